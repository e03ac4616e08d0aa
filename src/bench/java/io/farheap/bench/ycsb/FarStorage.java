package io.farheap.bench.ycsb;

import io.farheap.tier.FarDevice;
import io.farheap.tier.device.Device;

/** Far memory with room for all of the log. */
final class FarStorage implements LogStorage {

    private final FarCacheProcess memory;
    private final FarDevice device;

    /** @param memory with room for the log; this does not own it */
    FarStorage(DataSet data, FarCacheProcess memory) {
        this.memory = memory;
        device = new FarDevice(memory.cache(), data.segmentBytes(), StoreContestant.PENDING);
    }

    FarCacheProcess memory() {
        return memory;
    }

    @Override
    public Device device() {
        return device;
    }

    @Override
    public String engine() {
        return "one-sided";
    }

    @Override
    public boolean onDevice() {
        return true;
    }

    @Override
    public double farShare(long notLocalBytes) {
        return notLocalBytes == 0 ? 0 : 1;
    }

    @Override
    public void close() {
        device.close();
    }
}
