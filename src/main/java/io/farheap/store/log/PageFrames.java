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
 * Memory for as many pages of a log as the store may use, and which page is in which frame. A page's frame is read
 * inside an epoch, for addresses from {@code head} on; frames are given and taken by the log's thread.
 */
public final class PageFrames implements AutoCloseable {

    final int pageBits;
    final int count;

    private final PrivateMemory memory;
    private final @Nullable DeviceMemory registered;
    /** By page, modulo the length: the address that address 0 of the log would have, seen from this page. */
    private final long[] bases;

    private final int mask;
    private final ArrayDeque<Long> free = new ArrayDeque<>();

    /** @param device that the pages are written to; null for none */
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
        // A page that is new never has the place of one that may still be read.
        this.bases = new long[Integer.highestOneBit(2 * count - 1) * 2];
        this.mask = bases.length - 1;
        for (int frame = 0; frame < count; frame++) {
            free.add(memory.segment().address() + ((long) frame << pageBits));
        }
    }

    /** The memory of an address of the log. */
    public long memoryOf(long address) {
        return bases[(int) (address >>> pageBits) & mask] + address;
    }

    int free() {
        return free.size();
    }

    /** Gives a page memory. By the log's thread; readers learn of it by a release store of another word. */
    void give(long page) {
        long frame = free.remove();
        bases[(int) page & mask] = frame - (page << pageBits);
    }

    /** Nobody reads the page's memory any more. */
    void take(long page) {
        free.add(bases[(int) page & mask] + (page << pageBits));
    }

    DeviceMemory registered() {
        return Objects.requireNonNull(registered);
    }

    /** Where the memory of an address is in {@link #registered}. */
    long offsetOf(long address) {
        return memoryOf(address) - memory.segment().address();
    }

    /** A part of one page. */
    ByteBuffer bytes(long address, long length) {
        return memory.segment().asSlice(offsetOf(address), length).asByteBuffer();
    }

    /** All frames, as updates see values. */
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
