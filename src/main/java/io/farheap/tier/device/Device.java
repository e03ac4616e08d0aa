package io.farheap.tier.device;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A log's address space on storage. Addresses are bytes from 0 to 2^48; a log is appended to at its end, read anywhere,
 * and given back from its beginning on, a segment at a time. Any thread may call; requests are made through
 * {@linkplain #open handles}.
 */
public interface Device extends AutoCloseable {

    /** Addresses are below it: records have 48 bits for one. */
    long MAX_ADDRESS = 1L << 48;
    /** Bytes of a read that need no more than {@link #readAlignment}. */
    long MAX_FINE_READ = 16 * 1024;

    /** What it is, as reports name it: {@code file, io_uring}. */
    String name();

    /** Bytes of a segment, a power of two: segments begin at multiples of it, and are given back as a whole. */
    long segmentBytes();

    /** Addresses, lengths and places in memory of all requests are multiples of it: a power of two, at most 4,096. */
    int alignment();

    /** The same, of reads of up to {@link #MAX_FINE_READ} bytes, which may be finer; longer ones are as others. */
    int readAlignment();

    /**
     * Bytes of log that it has at most: an append of what ends at {@code e} makes it give up what is below {@code e -
     * capacity}. {@link #MAX_ADDRESS} where there is no such limit.
     */
    long capacity();

    /** Why its storage refused a request, the last time; null where it refused none, or nobody knows. */
    default @Nullable String refusal() {
        return null;
    }

    /** Whether what it has {@linkplain DeviceHandle#sync synced} survives the process, and a power cut. */
    boolean durable();

    /**
     * The lowest address that it still has. It grows only, by {@link #truncate}, or as a device of bounded size writes
     * its oldest part over. A read below it ends with {@link IoStatus#GONE}, also one that was under way when it grew.
     */
    long begin();

    /** Nothing was appended at it or beyond; 0 where nothing was. What a device recovers begins with that. */
    long end();

    /**
     * The device has nothing below any more: what it has there can be used again, by whole segments. It may wait for
     * storage.
     */
    void truncate(long below);

    /**
     * Memory for requests, which whoever gives it also unmaps, after the returned is closed. Closing it while a request
     * uses it is an error, and throws.
     *
     * @param memory native, begins and ends at multiples of 4,096
     */
    DeviceMemory register(MemorySegment memory);

    /** For one thread at a time. */
    DeviceHandle open();

    /**
     * Ends it. What survives depends on the kind of device.
     *
     * @throws IllegalStateException where handles or memory are open
     */
    @Override
    void close();
}
