package io.farheap.tier;

import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.handle.BaseHandle;

/**
 * A log in this process's own memory, which is allocated as it is appended to, a segment at a time: for tests, with
 * {@link #faults}, and as a tier that is nothing but fast. Requests take effect in the poll that calls them back.
 *
 * <p>It survives nothing; a {@link DeviceHandle#sync} is called back with the poll after it.
 */
public final class MemoryDevice extends BaseDevice {

    public static final int DEFAULT_REQUESTS = 128;

    private final int requests;
    private final MemoryFaults faults = new MemoryFaults();
    private final MemoryLog log;

    /** One without a limit. */
    public MemoryDevice(long segmentBytes, int alignment) {
        this(segmentBytes, alignment, DEFAULT_REQUESTS, MAX_ADDRESS);
    }

    /**
     * @param segmentBytes a power of two, at least 4,096
     * @param alignment a power of two, at most 4,096
     * @param requests that a handle has at a time
     * @param capacity bytes of log that it has at most, a multiple of {@code segmentBytes}
     */
    public MemoryDevice(long segmentBytes, int alignment, int requests, long capacity) {
        super(segmentBytes, alignment);
        if (capacity < segmentBytes || capacity > MAX_ADDRESS || capacity % segmentBytes != 0) {
            throw new IllegalArgumentException(
                    "a capacity of " + capacity + " bytes; it must be a multiple of the segment's " + segmentBytes);
        }
        this.requests = requests;
        this.log = new MemoryLog(segmentBytes, capacity);
    }

    /** When its requests end, and how. */
    public MemoryFaults faults() {
        return faults;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public long capacity() {
        return log.capacity();
    }

    @Override
    public boolean durable() {
        return false;
    }

    @Override
    public long begin() {
        return log.begin();
    }

    @Override
    public long end() {
        return log.end();
    }

    @Override
    public void truncate(long below) {
        log.truncate(below);
    }

    @Override
    BaseHandle openHandle(BaseHandle.Registry registry) {
        return new MemoryHandle(this, registry, log, faults, requests);
    }

    @Override
    void free() {
        log.free();
    }
}
