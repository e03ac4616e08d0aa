package io.farheap.bench.ycsb;

import io.farheap.lifetime.CloseStack;
import io.farheap.tier.FileDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.FileOptions;
import java.nio.file.Path;

/** Files with direct I/O, past the page cache. */
final class FileStorage implements LogStorage {

    static final FileOptions OPTIONS = FileOptions.DEFAULT.withRequests(StoreContestant.PENDING);

    private final CloseStack resources = new CloseStack();
    private final FileDevice device;

    /** @param directory an empty one, for the device alone */
    FileStorage(DataSet data, Path directory) {
        device = resources.add(FileDevice.open(directory, data.segmentBytes(), OPTIONS));
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public String engine() {
        return device.name();
    }

    @Override
    public double farShare(long notLocalBytes) {
        return 0;
    }

    @Override
    public void close() {
        resources.close();
    }
}
