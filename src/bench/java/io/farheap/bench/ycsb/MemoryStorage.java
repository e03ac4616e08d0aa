package io.farheap.bench.ycsb;

import io.farheap.tier.MemoryDevice;
import io.farheap.tier.device.Device;

/** This process's own memory, for a store that keeps all of its log local anyway. */
final class MemoryStorage implements LogStorage {

    private static final long SEGMENT_BYTES = 4 << 20;
    private static final int ALIGNMENT = 8;

    private final MemoryDevice device = new MemoryDevice(SEGMENT_BYTES, ALIGNMENT);

    @Override
    public Device device() {
        return device;
    }

    @Override
    public String engine() {
        return "memory";
    }

    @Override
    public double farShare(long notLocalBytes) {
        return 0;
    }

    @Override
    public void close() {
        device.close();
    }
}
