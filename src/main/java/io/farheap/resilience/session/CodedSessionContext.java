package io.farheap.resilience.session;

import io.farheap.coding.Coder;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.CodedSessionCounts;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SpaceState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The parts of a session that its reads and writes share: queue, slots, coder, clock and random numbers. */
public final class CodedSessionContext {

    /** Bits of a tag that are the split; the rest is the slot. */
    static final int SPLIT_BITS = 5;

    /** A prime larger than the number of splits of a page, so that each split is counted in turn. */
    private static final int COUNTED_TOGETHER = 31;

    static final int SPLIT_MASK = (1 << SPLIT_BITS) - 1;
    /** The clock advances by at most this much in one step, if the session has not polled for longer. */
    private static final long MOST_STEP_NANOS = 1_000_000;

    final SpaceState space;
    final Resilience resilience;
    public final RemoteQueue queue;
    public final CodedConnections lines;
    public final CodedSessionCounts counts = new CodedSessionCounts();
    final Coder coder;
    final RegisteredBuffer buffer;
    final MemorySegment memory;
    final int splitBytes;
    /** A page that the device never reads into: splits are decoded here, and a split behind it holds changes. */
    final MemorySegment scratch;

    /** By split, for the coder. */
    final long[] addresses;

    final long[] parities;

    private final Arena arena;
    private final long memoryAddress;
    private final PageBuffer[] slots;
    private final PageBuffer[] free;
    private int freeCount;
    /** Advances while the session polls. */
    private long clock;

    private long lastNanos = System.nanoTime();
    private long dice;
    private int uncounted;

    public CodedSessionContext(SpaceState space, RemoteQueue queue, RegisteredBuffer buffer, int slotCount, long seed) {
        this.space = space;
        this.resilience = space.resilience;
        this.queue = queue;
        this.lines = new CodedConnections(space, queue);
        this.buffer = buffer;
        this.memory = buffer.segment();
        this.memoryAddress = memory.address();
        this.splitBytes = resilience.splitBytes();
        int splits = resilience.splits();
        try (CloseStack opened = new CloseStack()) {
            this.coder = opened.add(new Coder(space.code));
            this.arena = opened.add(Arena.ofShared());
            this.scratch = arena.allocate((long) splitBytes * (splits + 1), Resilience.SPLIT_UNIT);
            opened.keep();
        }
        this.addresses = new long[splits];
        this.parities = new long[resilience.paritySplits()];
        this.slots = new PageBuffer[slotCount];
        this.free = new PageBuffer[slotCount];
        for (int i = 0; i < slotCount; i++) {
            Slab[] slabs = new Slab[splits];
            for (int split = 0; split < splits; split++) {
                slabs[split] = space.table.slab(0, split);
            }
            slots[i] = new PageBuffer(i, (long) i * splitBytes * splits, slabs);
            free[freeCount++] = slots[i];
        }
        this.dice = seed | 1;
    }

    PageBuffer slot(int index) {
        return slots[index];
    }

    boolean hasSlot() {
        return freeCount > 0;
    }

    @Nullable
    PageBuffer takeSlot(PageOp op) {
        if (freeCount == 0) {
            return null;
        }
        PageBuffer slot = free[--freeCount];
        slot.op = op.index;
        return slot;
    }

    /** An operation leaves its slot, which is free once all its tags are back. */
    void leave(PageOp op) {
        PageBuffer slot = op.slot;
        op.slot = null;
        if (slot == null) {
            return;
        }
        slot.op = PageBuffer.NOBODY;
        slot.unposted = 0;
        if (slot.outstanding == 0) {
            free[freeCount++] = slot;
        } else {
            countLate(slot, slot.outstanding);
        }
    }

    /** Counts, at their servers, the splits that a hedge or a timeout found missing. */
    void recordLate(PageBuffer slot, int splits) {
        for (int left = splits & slot.outstanding; left != 0; left &= left - 1) {
            lines.of(slot.slabs[Integer.numberOfTrailingZeros(left)].region().server())
                    .record
                    .late
                    .increment();
        }
    }

    /** Marks some outstanding splits as late at their connections. */
    void countLate(PageBuffer slot, int splits) {
        for (int left = splits & slot.outstanding & ~slot.late; left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            slot.late |= 1 << split;
            lines.of(slot.slabs[split].region().server()).late++;
            counts.late++;
        }
    }

    /**
     * A split's tag has come back.
     *
     * @return the number of the operation that waits for it, or {@link PageBuffer#NOBODY}
     */
    int returned(PageBuffer slot, int split) {
        int bit = 1 << split;
        slot.outstanding &= ~bit;
        if ((slot.late & bit) != 0) {
            slot.late &= ~bit;
            lines.of(slot.slabs[split].region().server()).late--;
        }
        if (slot.op == PageBuffer.NOBODY && slot.outstanding == 0) {
            free[freeCount++] = slot;
        }
        return slot.op;
    }

    /** Whether any operation is in flight. */
    public boolean anyOutstanding() {
        return queue.inFlight() > 0;
    }

    /**
     * Posts one split of an operation's column, to or from the slab that the slot names.
     *
     * @return whether it is posted, or will be; false if its server is not connected
     */
    boolean post(PageOp op, PageBuffer slot, int split, boolean write) {
        Slab slab = slot.slabs[split];
        long at = slot.at + (long) split * splitBytes + op.columnFrom;
        long offset = op.slabOffset + op.columnFrom;
        long tag = (long) slot.index << SPLIT_BITS | split;
        int posting = write
                ? queue.write(slab.region(), offset, buffer, at, op.columnBytes, tag)
                : queue.read(slab.region(), offset, buffer, at, op.columnBytes, tag);
        int bit = 1 << split;
        slot.unposted &= ~bit;
        switch (posting) {
            case PostResult.OK -> {
                slot.outstanding |= bit;
                countUse(slab);
            }
            case PostResult.FULL -> slot.unposted |= bit;
            default -> {
                if (!slab.isVoid()) {
                    lines.broke(slab.region().server(), clock);
                }
                return false;
            }
        }
        return true;
    }

    /**
     * Counts one use in {@value #COUNTED_TOGETHER} for all of them: otherwise each operation would write to memory that
     * all sessions read.
     */
    private void countUse(Slab slab) {
        if (++uncounted == COUNTED_TOGETHER) {
            uncounted = 0;
            slab.countUses(COUNTED_TOGETHER);
        }
    }

    /** The address of a split's column in a slot. */
    long address(PageBuffer slot, int split, PageOp op) {
        return memoryAddress + slot.at + (long) split * splitBytes + op.columnFrom;
    }

    /** The address at which a split's column is decoded. */
    long scratchAddress(int split, PageOp op) {
        return scratch.address() + (long) split * splitBytes + op.columnFrom;
    }

    /** Sets the address of each split's column in a slot, for the coder. */
    void aim(PageBuffer slot, PageOp op) {
        for (int split = 0; split < addresses.length; split++) {
            addresses[split] = address(slot, split, op);
        }
    }

    public long clock() {
        return clock;
    }

    /** @return the time, in ns */
    long step() {
        long now = System.nanoTime();
        clock += Math.min(now - lastNanos, MOST_STEP_NANOS);
        lastNanos = now;
        return now;
    }

    /** Chooses {@code count} members of a set, each with equal probability. */
    int choose(int from, int count) {
        int left = Integer.bitCount(from);
        int wanted = Math.min(count, left);
        if (wanted == left) {
            return from;
        }
        return 2 * wanted <= left ? draw(from, left, wanted) : from & ~draw(from, left, left - wanted);
    }

    /** Draws members of a set, one after another. */
    private int draw(int from, int left, int count) {
        int rest = from;
        for (int i = 0; i < count; i++) {
            rest &= ~Integer.expand(1 << roll(left - i), rest);
        }
        return from & ~rest;
    }

    private int roll(int bound) {
        dice ^= dice << 13;
        dice ^= dice >>> 7;
        dice ^= dice << 17;
        return (int) ((dice >>> 33) * bound >>> 31);
    }

    /** Called after the queue is closed. */
    public void close() {
        Closeables.all(coder, arena, buffer);
    }
}
