package io.farheap.tier;

import io.farheap.cache.Cache;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BaseHandle;
import io.farheap.tier.handle.OwnedMemory;
import java.lang.foreign.MemorySegment;

/**
 * The newest part of a log in a {@link Cache}, at places that are addresses modulo its capacity (Redy, section 8.2). An
 * append beyond the capacity overwrites the oldest part. {@link #begin} moves first, then the place is written. A read
 * that ends after {@code begin} has passed its address is {@link IoStatus#GONE}, whatever bytes it returned, so a
 * reader that does not poll holds up no append. An append waits for an older one, a lap before, that is still on its
 * way to the same place.
 *
 * <p>A handle is a session of the cache, and each request is one read or one write of it. The application owns the
 * cache and closes it after the device; if it is closed before, requests end with {@link IoStatus#LOST}. The log
 * survives neither the end of the client nor, without {@code resilience}, the end of a memory server.
 *
 * <p>For small records give the cache {@link io.farheap.cache.CacheBuilder#doorbellBatch}: requests between two polls
 * are then posted in lists of work requests, each record to its own place.
 */
public final class FarDevice extends BaseDevice {

    /** How many requests a handle may have at a time, if no number is given. */
    public static final int DEFAULT_REQUESTS = 128;
    /** Far memory reads and writes aligned 8 bytes as a whole. */
    private static final int ALIGNMENT = 8;

    private final Cache cache;
    private final int requests;
    private final FarLog log;

    /** With {@value #DEFAULT_REQUESTS} requests a handle. */
    public FarDevice(Cache cache, long segmentBytes) {
        this(cache, segmentBytes, DEFAULT_REQUESTS);
    }

    /**
     * @param segmentBytes a power of two, at least 4,096; the device uses as many whole segments as the cache has
     * @param requests how many requests a handle may have at a time
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
