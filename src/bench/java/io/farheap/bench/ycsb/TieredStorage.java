package io.farheap.bench.ycsb;

import io.farheap.lifetime.CloseStack;
import io.farheap.tier.FarDevice;
import io.farheap.tier.FileDevice;
import io.farheap.tier.TieredDevice;
import io.farheap.tier.device.Device;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Far memory over files: the files have all of the log, far memory has its newest part, as much as there is room for.
 */
final class TieredStorage implements LogStorage {

    private static final long UNBOUNDED = Long.MAX_VALUE;

    private final CloseStack resources = new CloseStack();
    private final long segmentBytes;
    private final FileDevice file;
    private final TieredDevice device;
    private final List<FarCacheProcess> resized = new ArrayList<>();

    /**
     * @param directory an empty one, for the device alone
     * @param far far memory with the commit point, which this does not own; none for files alone
     */
    TieredStorage(DataSet data, Path directory, FarCacheProcess... far) {
        segmentBytes = data.segmentBytes();
        try {
            List<Device> tiers = new ArrayList<>();
            for (FarCacheProcess memory : far) {
                tiers.add(tier(memory));
            }
            file = FileDevice.open(directory, segmentBytes, FileStorage.OPTIONS);
            tiers.add(file);
            device = resources.add(new TieredDevice(tiers, 0, StoreContestant.PENDING));
        } catch (Throwable e) {
            try (resources) {
                throw e;
            }
        }
    }

    private FarDevice tier(FarCacheProcess memory) {
        return new FarDevice(memory.cache(), segmentBytes, StoreContestant.PENDING);
    }

    /**
     * Replaces its far memory while it is used. Returns when the new one has as much of the log as it has room for.
     *
     * @param bytes of far memory
     * @return bytes that were copied into it
     */
    long resize(long bytes) {
        FarCacheProcess memory = new FarCacheProcess(bytes);
        // It is read until no handle uses it any more: closed after the device.
        resized.add(memory);
        if (device.tiers() == 1) {
            device.add(0, tier(memory));
        } else {
            device.replace(0, tier(memory));
        }
        return device.fill(0, UNBOUNDED);
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public String engine() {
        return device.tiers() == 1 ? file.name() : "one-sided; then " + file.name();
    }

    @Override
    public boolean onDevice() {
        return device.tiers() > 1;
    }

    @Override
    public double farShare(long notLocalBytes) {
        if (device.tiers() == 1 || notLocalBytes == 0) {
            return 0;
        }
        return Math.clamp((double) (notLocalBytes - device.tierBegin(0)) / notLocalBytes, 0, 1);
    }

    @Override
    public void close() {
        CloseStack everything = new CloseStack();
        resized.forEach(everything::add);
        everything.add(resources);
        everything.close();
    }
}
