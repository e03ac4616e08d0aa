package io.farheap.store.log;

import io.farheap.memory.PrivateMemory;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The frames that hold a log's pages in memory, and which page is in which frame. Sessions look up the frame of an
 * address inside an epoch, for addresses from {@code head} on; the log's thread gives frames to pages and takes them
 * back.
 */
public final class PageFrames implements AutoCloseable {

    final int pageBits;
    final int count;

    private final PrivateMemory memory;
    private final @Nullable DeviceMemory registered;
    /**
     * Indexed by the page's number modulo the length: the memory address of the page's frame less the page's address in
     * the log, so that one addition turns an address of the log into one of memory.
     */
    private final long[] bases;

    private final int mask;
    private final ArrayDeque<Long> free = new ArrayDeque<>();

    /** @param device the device to which the pages are written; null if they are written to none */
    public PageFrames(@Nullable Device device, int pageBits, int count) {
        this.pageBits = pageBits;
        this.count = count;
        this.memory = PrivateMemory.allocate((long) count << pageBits);
        try {
            this.registered = device == null ? null : device.register(memory.segment());
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
        // More places than frames: a new page never gets the place of a page that may still be read.
        this.bases = new long[Integer.highestOneBit(2 * count - 1) * 2];
        this.mask = bases.length - 1;
        for (int frame = 0; frame < count; frame++) {
            free.add(memory.segment().address() + ((long) frame << pageBits));
        }
    }

    /** The address in memory of an address of the log. */
    public long memoryOf(long address) {
        return bases[(int) (address >>> pageBits) & mask] + address;
    }

    int free() {
        return free.size();
    }

    /**
     * Gives a page a frame; called by the log's thread. A release store to another word ({@link HybridLog#ready})
     * publishes it.
     */
    void give(long page) {
        long frame = free.remove();
        bases[(int) page & mask] = frame - (page << pageBits);
    }

    /** Takes a page's frame back; called by the log's thread, once no session reads the page's memory any more. */
    void take(long page) {
        free.add(bases[(int) page & mask] + (page << pageBits));
    }

    DeviceMemory registered() {
        return Objects.requireNonNull(registered);
    }

    /** The offset of an address of the log in {@link #registered}. */
    long offsetOf(long address) {
        return memoryOf(address) - memory.segment().address();
    }

    /** Bytes of the log, within one page. */
    ByteBuffer bytes(long address, long length) {
        return memory.segment().asSlice(offsetOf(address), length).asByteBuffer();
    }

    /** The memory of all frames; {@code Update}s receive values as offsets in it. */
    public MemorySegment segment() {
        return memory.segment();
    }

    @Override
    public void close() {
        if (registered != null) {
            registered.close();
        }
        memory.close();
    }
}
