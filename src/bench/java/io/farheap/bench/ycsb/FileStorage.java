package io.farheap.bench.ycsb;

import io.farheap.lifetime.CloseStack;
import io.farheap.tier.Device;
import io.farheap.tier.FileDevice;
import java.nio.file.Path;

/** Files past the page cache. */
final class FileStorage implements Storage {

    private static final long SEGMENT_BYTES = 64 << 20;

    private final CloseStack resources = new CloseStack();
    private final FileDevice device;

    /** @param directory which is empty, and becomes the device's */
    FileStorage(Path directory) {
        device = resources.add(FileDevice.open(directory, SEGMENT_BYTES));
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
