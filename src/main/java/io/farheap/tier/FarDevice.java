package io.farheap.tier;

import io.farheap.cache.Cache;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.MemorySegment;

/**
 * The newest part of a log in a {@link Cache}, addresses modulo its capacity: the tier below storage (Redy, section
 * 8.2). What is appended beyond the capacity takes the place of the oldest part. First {@link #begin} moves, then the
 * place is written: a read that ends below the mark is {@link IoStatus#GONE} whatever it returned, so readers that
 * nobody polls hold up no append. An append to a place waits for one that is on its way there, a lap before.
 *
 * <p>A handle is a session of the cache, to which each request is one read or one write. The cache is somebody else's,
 * who closes it when the device is closed; where that happens before, requests end with {@link IoStatus#LOST}. It
 * survives nothing: neither its client's end nor, without {@code resilience}, a memory server's.
 *
 * <p>For small records give the cache {@link io.farheap.cache.CacheBuilder#doorbellBatch}: what is requested between
 * two polls then goes out in lists, each record to its own place.
 */
public final class FarDevice extends BaseDevice {

    public static final int DEFAULT_REQUESTS = 128;
    /** Far memory reads and writes these as a whole. */
    private static final int ALIGNMENT = 8;

    private final Cache cache;
    private final int requests;
    private final FarLog log;

    /** With {@value #DEFAULT_REQUESTS} requests a handle. */
    public FarDevice(Cache cache, long segmentBytes) {
        this(cache, segmentBytes, DEFAULT_REQUESTS);
    }

    /**
     * @param segmentBytes a power of two, at least 4,096; of the cache as many are used as are whole
     * @param requests that a handle has at a time
     */
    public FarDevice(Cache cache, long segmentBytes, int requests) {
        super(segmentBytes, ALIGNMENT);
        this.cache = cache;
        this.requests = requests;
        long segments = cache.capacity() / segmentBytes;
        if (segments == 0) {
            throw new IllegalArgumentException("segments of " + segmentBytes + " bytes; the cache has "
                    + cache.capacity() + " bytes: make it larger, or the segments smaller");
        }
        this.log = new FarLog(segments, segmentBytes);
    }

    @Override
    public String name() {
        return "far memory, " + cache.configuration();
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
    OwnedMemory own(OwnedMemory.Registry registry, MemorySegment memory) {
        return new FarDeviceMemory(registry, memory, cache.register(memory));
    }

    @Override
    BaseHandle openHandle(BaseHandle.Registry registry) {
        return new FarHandle(this, registry, log, cache, requests);
    }

    @Override
    void free() {}
}
