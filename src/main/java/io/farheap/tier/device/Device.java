package io.farheap.tier.device;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A log's address space on storage. Addresses count bytes, from 0 to 2^48. A log is appended to at its end, read
 * anywhere, and truncated at its beginning, by whole segments. Any thread may call; requests are made through
 * {@linkplain #open handles}.
 */
public interface Device extends AutoCloseable {

    /** All addresses are below this, since records have 48 bits for an address. */
    long MAX_ADDRESS = 1L << 48;
    /** The longest read, in bytes, for which {@link #readAlignment} is enough. */
    long MAX_FINE_READ = 16 * 1024;

    /** The kind of device, as reports name it, for example {@code file, io_uring}. */
    String name();

    /** Bytes of a segment, a power of two. Segments begin at multiples of it, and are freed as a whole. */
    long segmentBytes();

    /** The alignment of addresses, lengths and offsets in memory of all requests: a power of two, at most 4,096. */
    int alignment();

    /** The alignment for reads of up to {@link #MAX_FINE_READ} bytes, which may be finer than {@link #alignment}. */
    int readAlignment();

    /**
     * The most bytes of log that the device holds: an append that ends at {@code e} makes it drop the log below
     * {@code e - capacity}. {@link #MAX_ADDRESS} if there is no such limit.
     */
    long capacity();

    /** The reason why the storage last refused a request; null if it refused none, or if the reason is not known. */
    default @Nullable String refusal() {
        return null;
    }

    /** Whether the log that was {@linkplain DeviceHandle#sync synced} survives the process, and a power cut. */
    boolean durable();

    /**
     * The lowest address that the device still has. It only grows: by {@link #truncate}, or when a device of bounded
     * size overwrites its oldest part. A read below it ends with {@link IoStatus#GONE}, also one that was under way
     * when it grew.
     */
    long begin();

    /**
     * The end of the log: nothing was appended at this address or beyond; 0 if nothing was appended. A device that
     * recovers a log begins with the log's end.
     */
    long end();

    /**
     * Whether the device may have bytes at an address: {@code false} if nothing was ever appended there, as at the end
     * of a segment that an append has passed by, or in a segment that a power cut has shortened. A read there fails,
     * and so does a read of bytes that the storage cannot read at this moment; this method tells the two apart. A
     * device that does not know returns {@code true} for each address of its log. It may block on storage.
     *
     * @param length bytes from the address on, within one segment; {@code true} only if the device may have all of them
     */
    default boolean mayHave(long address, long length) {
        return address >= begin() && address + length <= end();
    }

    /** Drops the log below an address, so that the device can use its whole segments again. It may block on storage. */
    void truncate(long below);

    /**
     * Registers memory for requests. The caller unmaps it, after it has closed the returned object. Closing that while
     * a request uses it throws.
     *
     * @param memory native memory that begins and ends at multiples of 4,096
     */
    DeviceMemory register(MemorySegment memory);

    /** Opens a handle, for one thread at a time. */
    DeviceHandle open();

    /**
     * Closes the device. What survives depends on the kind of device.
     *
     * @throws IllegalStateException if handles or memory are open
     */
    @Override
    void close();
}
