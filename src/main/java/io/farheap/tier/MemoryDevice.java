package io.farheap.tier;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A log in this process's own memory, which is allocated as it is appended to, a segment at a time: for tests, with
 * {@link #faults}, and as a tier that is nothing but fast. Requests take effect in the poll that calls them back.
 *
 * <p>It survives nothing; a {@link DeviceHandle#sync} is called back with the poll after it.
 */
public final class MemoryDevice extends BaseDevice {

    public static final int DEFAULT_REQUESTS = 128;

    private final long capacity;
    private final int requests;
    private final MemoryFaults faults = new MemoryFaults();
    private final SegmentTable<Piece> pieces = new SegmentTable<>();
    private final Mark begin = new Mark(0);
    private final Mark end = new Mark(0);

    /** A segment of the log. */
    record Piece(Arena arena, MemorySegment memory) {}

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
        this.capacity = capacity;
        this.requests = requests;
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
        return capacity;
    }

    @Override
    public boolean durable() {
        return false;
    }

    @Override
    public long begin() {
        return begin.get();
    }

    @Override
    public long end() {
        return end.get();
    }

    @Override
    public void truncate(long below) {
        if (begin.raise(below)) {
            free(pieces.removeBelow(begin.get() / segmentBytes()));
        }
    }

    /** Where an address is, or null where nothing was appended there. */
    @Nullable
    MemorySegment find(long address) {
        Piece piece = pieces.get(address / segmentBytes());
        return piece == null ? null : piece.memory;
    }

    /** Room for a part of the log; what it takes the place of is gone then. */
    MemorySegment make(long address, long length) {
        truncate(address + length - capacity);
        MemorySegment there = find(address);
        return there != null ? there : pieces.getOrAdd(address / segmentBytes(), this::allocate).memory;
    }

    private Piece allocate(long segment) {
        Arena arena = Arena.ofShared();
        return new Piece(arena, arena.allocate(segmentBytes(), PAGE_BYTES));
    }

    void wrote(long to) {
        end.raise(to);
    }

    @Override
    BaseHandle openHandle() {
        return new MemoryHandle(this, requests);
    }

    @Override
    void free() {
        free(pieces.removeBelow(Long.MAX_VALUE));
    }

    private static void free(List<Piece> gone) {
        gone.forEach(piece -> piece.arena.close());
    }
}
