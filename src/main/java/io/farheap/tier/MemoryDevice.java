package io.farheap.tier;

import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.handle.BaseHandle;

/**
 * A log in this process's own memory, a segment of which is allocated when it is first appended to: for tests, with
 * {@link #faults}, and as the fastest tier. A request takes effect in the poll that calls its completion.
 *
 * <p>It survives nothing; a {@link DeviceHandle#sync} ends with the next poll.
 */
public final class MemoryDevice extends BaseDevice {

    /** How many requests a handle may have at a time, if no number is given. */
    public static final int DEFAULT_REQUESTS = 128;

    private final int requests;
    private final MemoryFaults faults = new MemoryFaults();
    private final MemoryLog log;

    /** A device without a limit of its capacity. */
    public MemoryDevice(long segmentBytes, int alignment) {
        this(segmentBytes, alignment, DEFAULT_REQUESTS, MAX_ADDRESS);
    }

    /**
     * @param segmentBytes a power of two, at least 4,096
     * @param alignment a power of two, at most 4,096
     * @param requests how many requests a handle may have at a time
     * @param capacity the most bytes of log that it holds, a multiple of {@code segmentBytes}
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

    /** Controls when requests end, and with which faults. */
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
    public boolean mayHave(long address, long length) {
        return super.mayHave(address, length) && log.find(address) != null;
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
