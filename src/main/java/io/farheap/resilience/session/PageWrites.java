package io.farheap.resilience.session;

import io.farheap.memory.MappedFaults;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import java.lang.foreign.MemorySegment;

/**
 * Writes of pages and of parts of them (Hydra, section 4.1.1): data splits are posted, parity is made while they fly
 * and posted after. A part of a page reads what it changes first. The page's stripe word is taken until every split is
 * there or its slab is void.
 */
final class PageWrites {

    private static final int NOT_YET = PageReads.NOT_YET;

    private final CodedSessionContext parts;
    private final SplitGatherer gather;
    private final Resilience resilience;
    private final int dataMask;
    private final int parityMask;
    private final int all;
    /** Called when a write completes before its end. */
    private final EarlyEnd earlyEnd;

    /** Receives a write that completes now, although it continues. */
    interface EarlyEnd {
        void called(PageOp op);
    }

    PageWrites(CodedSessionContext parts, SplitGatherer gather, EarlyEnd earlyEnd) {
        this.parts = parts;
        this.gather = gather;
        this.resilience = parts.resilience;
        this.earlyEnd = earlyEnd;
        this.dataMask = parts.space.code.data();
        this.parityMask = parts.space.code.parity();
        this.all = parts.space.code.all();
    }

    /** As {@link PageReads#begin}. */
    int begin(PageOp op, CodedRequests.CodedRequest request) {
        if (!parts.hasSlot() || !parts.space.words.tryWrite(op.page)) {
            return NOT_YET;
        }
        op.targets = op.touched | parityMask;
        op.word = 0;
        PageBuffer slot = parts.takeSlot(op);
        op.slot = slot;
        if (op.whole && slot != null) {
            if (Integer.bitCount(parts.space.table.good(op.range)) < resilience.dataSplits()) {
                return end(op, CodedStatus.LOST);
            }
            return send(op, slot, request, false);
        }
        op.state = PageOp.STARVED;
        return slot == null ? NOT_YET : gatherFirst(op, slot, request);
    }

    private int gatherFirst(PageOp op, PageBuffer slot, CodedRequests.CodedRequest request) {
        op.state = PageOp.GATHERING;
        return gathered(op, slot, request, gather.begin(op, slot, 0));
    }

    /** A split that the write reads first has come, or has failed; as {@link #begin}. */
    int arrived(PageOp op, PageBuffer slot, int split, boolean done, CodedRequests.CodedRequest request) {
        return gathered(op, slot, request, gather.arrived(op, slot, split, done));
    }

    /** As {@link PageReads#after}. */
    int gathered(PageOp op, PageBuffer slot, CodedRequests.CodedRequest request, int found) {
        switch (found) {
            case SplitGatherer.READY -> {
                return change(op, slot, request);
            }
            case SplitGatherer.STARVED -> {
                op.state = PageOp.STARVED;
                parts.leave(op);
                return NOT_YET;
            }
            case SplitGatherer.LOST -> {
                return end(op, CodedStatus.LOST);
            }
            default -> {
                return NOT_YET;
            }
        }
    }

    /** Retries a write that has too few connections, failed splits or void slabs; as {@link #begin}. */
    int again(PageOp op, CodedRequests.CodedRequest request) {
        PageBuffer slot = op.slot;
        if (op.state == PageOp.STARVED) {
            slot = parts.takeSlot(op);
            if (slot == null) {
                return NOT_YET;
            }
            op.slot = slot;
            return gatherFirst(op, slot, request);
        }
        if (op.state == PageOp.STRICT) {
            // Once its session has given its request up, no thread waits for the slabs.
            return op.request < 0 ? end(op, CodedStatus.CLOSED) : awaitSlabs(op);
        }
        if (slot == null) {
            return NOT_YET;
        }
        for (int left = slot.unposted & op.targets; left != 0; left &= left - 1) {
            write(op, slot, Integer.numberOfTrailingZeros(left));
        }
        return retryFailed(op, slot);
    }

    private int change(PageOp op, PageBuffer gatheredIn, CodedRequests.CodedRequest request) {
        switch (gather.agree(op, gatheredIn)) {
            case SplitGatherer.WAITS -> {
                return NOT_YET;
            }
            case SplitGatherer.CORRUPT -> {
                return end(op, CodedStatus.CORRUPT);
            }
            default -> {}
        }
        // Reads that the full queue refused are no longer needed.
        gatheredIn.unposted = 0;
        PageBuffer slot = gatheredIn;
        int needed = op.want | parityMask;
        boolean delta = Integer.bitCount(op.touched) == 1 && (op.have & needed) == needed;
        if (gatheredIn.outstanding != 0) {
            // Late splits still land in this slot.
            slot = parts.takeSlot(op);
            if (slot == null) {
                op.state = PageOp.STARVED;
                parts.leave(op);
                return NOT_YET;
            }
            copySplits(op, gatheredIn, slot);
            op.slot = gatheredIn;
            parts.leave(op);
            op.slot = slot;
        }
        if (!delta) {
            int missing = dataMask & ~op.have;
            if (missing != 0) {
                parts.counts.decoded++;
                parts.aim(slot, op);
                parts.coder.recover(parts.addresses, op.columnBytes, op.have, missing);
            }
        }
        return send(op, slot, request, delta);
    }

    private void copySplits(PageOp op, PageBuffer from, PageBuffer to) {
        for (int left = op.have; left != 0; left &= left - 1) {
            long at = (long) Integer.numberOfTrailingZeros(left) * parts.splitBytes + op.columnFrom;
            MemorySegment.copy(parts.memory, from.at + at, parts.memory, to.at + at, op.columnBytes);
        }
    }

    /** @param delta whether the slot has the old bytes of the one data split that changes, and of all parity */
    private int send(PageOp op, PageBuffer slot, CodedRequests.CodedRequest request, boolean delta) {
        MemorySegment memory = request.memory;
        try {
            if (memory == null) {
                return end(op, CodedStatus.CLOSED);
            }
            if (delta) {
                makeChange(op, slot, memory, request.at + op.memoryAt);
            } else {
                MemorySegment.copy(memory, request.at + op.memoryAt, parts.memory, slot.at + op.pageFrom, op.bytes);
            }
            MappedFaults.raise(memory);
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            // The last is how the JVM says that a mapped file has become shorter.
            return end(op, CodedStatus.SEGMENT_GONE);
        }
        // Looks up all slabs before the first write: if an error comes between data and parity, these slabs are known
        // and become void in time.
        for (int left = op.targets; left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            slot.slabs[split] = parts.space.table.slab(op.range, split);
        }
        op.state = PageOp.SENDING;
        op.deadline = parts.clock() + resilience.timeoutNanos();
        for (int left = op.touched; left != 0; left &= left - 1) {
            write(op, slot, Integer.numberOfTrailingZeros(left));
        }
        if (!delta) {
            parts.aim(slot, op);
            parts.coder.encode(parts.addresses, op.columnBytes);
        }
        for (int left = parityMask; left != 0; left &= left - 1) {
            write(op, slot, Integer.numberOfTrailingZeros(left));
        }
        return settle(op);
    }

    /** Replaces the old bytes and the old parity by the new ones. */
    private void makeChange(PageOp op, PageBuffer slot, MemorySegment memory, long at) {
        int split = Integer.numberOfTrailingZeros(op.touched);
        long old = slot.at + op.pageFrom;
        long change = (long) parts.splitBytes * resilience.splits();
        MemorySegment.copy(memory, at, parts.scratch, change, op.bytes);
        xor(parts.memory, old, parts.scratch, change, op.bytes);
        for (int i = 0; i < parts.parities.length; i++) {
            parts.parities[i] = parts.address(slot, resilience.dataSplits() + i, op);
        }
        parts.coder.addChange(split, parts.scratch.address() + change, parts.parities, op.bytes);
        xor(parts.scratch, change, parts.memory, old, op.bytes);
    }

    /** Adds (XOR) bytes to others. */
    private static void xor(MemorySegment from, long fromAt, MemorySegment to, long toAt, int bytes) {
        int at = 0;
        for (; at + Long.BYTES <= bytes; at += Long.BYTES) {
            long sum = from.get(ValueLayouts.LONG, fromAt + at) ^ to.get(ValueLayouts.LONG, toAt + at);
            to.set(ValueLayouts.LONG, toAt + at, sum);
        }
        for (; at < bytes; at++) {
            byte sum = (byte) (from.get(ValueLayouts.BYTE, fromAt + at) ^ to.get(ValueLayouts.BYTE, toAt + at));
            to.set(ValueLayouts.BYTE, toAt + at, sum);
        }
    }

    private void write(PageOp op, PageBuffer slot, int split) {
        int bit = 1 << split;
        if (slot.slabs[split].isVoid()) {
            op.skipped |= bit;
            op.failed &= ~bit;
            slot.unposted &= ~bit;
        } else if (parts.post(op, slot, split, true)) {
            op.failed &= ~bit;
        } else {
            op.failed |= bit;
        }
    }

    /** A split's tag has come back; as {@link #begin}. */
    int written(PageOp op, PageBuffer slot, int split, boolean done) {
        int bit = 1 << split;
        if ((op.skipped & bit) != 0) {
            // It was late, and its slab is void.
            return settle(op);
        }
        if (slot.slabs[split].isVoid()) {
            op.skipped |= bit;
        } else if (done) {
            op.done |= bit;
            if ((op.owed & bit) != 0) {
                op.owed &= ~bit;
                parts.space.words.pay(op.page, bit);
            }
        } else {
            op.failed |= bit;
        }
        return settle(op);
    }

    private int settle(PageOp op) {
        int missing = op.targets & ~op.done & ~op.skipped;
        if (missing != 0) {
            if (!op.called) {
                callEarly(op, missing);
            }
            return NOT_YET;
        }
        if (op.skipped == 0) {
            return end(op, CodedStatus.OK);
        }
        if (Integer.bitCount(parts.space.table.good(op.range)) < resilience.dataSplits()) {
            return end(op, CodedStatus.LOST);
        }
        if (resilience.strict() && !op.called) {
            // It waits without the word: the page could not be made in one new slab while the write waits for another.
            release(op);
            op.state = PageOp.STRICT;
            return awaitSlabs(op);
        }
        parts.counts.degraded++;
        return end(op, CodedStatus.OK);
    }

    /** Completes the write early in modes that wait for fewer splits than all. */
    private void callEarly(PageOp op, int missing) {
        int wanted = resilience.writeWaitsFor();
        if (wanted == resilience.splits()) {
            return;
        }
        int there = op.done | parts.space.table.good(op.range) & all & ~op.targets;
        if (Integer.bitCount(there) >= wanted) {
            op.called = true;
            op.owed = missing;
            parts.space.words.owe(op.page, missing);
            earlyEnd.called(op);
        }
    }

    /** Sends failed splits again if their servers are connected. */
    private int retryFailed(PageOp op, PageBuffer slot) {
        for (int left = op.failed & ~slot.outstanding; left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            CodedConnection line = parts.lines.of(slot.slabs[split].region().server());
            if (line.connected || slot.slabs[split].isVoid()) {
                write(op, slot, split);
            }
        }
        return settle(op);
    }

    /**
     * Looks at a write's time limit. Splits that are not there when it has passed, or that failed at a server that
     * {@linkplain CodedConnection#isUnreachable cannot be reached}, make their slabs void; as {@link #begin}.
     */
    int tick(PageOp op, PageBuffer slot) {
        int unreachable = 0;
        for (int left = op.targets & ~op.done & ~op.skipped; left != 0; left &= left - 1) {
            int split = Integer.numberOfTrailingZeros(left);
            if (slot.slabs[split].isVoid()) {
                op.skipped |= 1 << split;
                op.failed &= ~(1 << split);
            } else if ((op.failed >>> split & 1) != 0
                    && parts.lines.of(slot.slabs[split].region().server()).isUnreachable()) {
                unreachable |= 1 << split;
            }
        }
        if (unreachable != 0) {
            makeVoid(op, slot, unreachable);
        }
        int missing = op.targets & ~op.done & ~op.skipped;
        if (missing != 0 && parts.clock() - op.deadline >= 0 && !makeVoid(op, slot, missing)) {
            op.deadline = parts.clock() + resilience.timeoutNanos();
        }
        return settle(op);
    }

    private boolean makeVoid(PageOp op, PageBuffer slot, int splits) {
        if (!parts.space.table.makeVoid(slot.slabs, splits)) {
            return false;
        }
        parts.counts.voided += Integer.bitCount(splits);
        parts.space.onVoid.run();
        parts.recordLate(slot, splits);
        parts.countLate(slot, splits);
        op.skipped |= splits;
        op.failed &= ~splits;
        slot.unposted &= ~splits;
        return true;
    }

    /**
     * A strict write waits until the slabs are good that have replaced the void ones. The new slabs contain its data:
     * they were put in place after the write had found the void ones under the page's word, and their pages are
     * regenerated after the write has released the word.
     */
    private int awaitSlabs(PageOp op) {
        int good = parts.space.table.good(op.range);
        op.skipped &= ~good;
        if (op.skipped == 0) {
            return end(op, CodedStatus.OK);
        }
        return Integer.bitCount(good) < resilience.dataSplits() ? end(op, CodedStatus.LOST) : NOT_YET;
    }

    /**
     * The session gives up an operation that it cannot end: splits that are not there make their slabs void, so that no
     * reader takes old content for new. If that would leave fewer than k slabs, the page is given up instead of its
     * range: its stripe word stays taken, so no later write of it begins, and no read either unless the write had
     * completed early.
     */
    void abandon(PageOp op) {
        PageBuffer slot = op.slot;
        int missing = op.targets & ~op.done & ~op.skipped;
        if (slot != null && op.state == PageOp.SENDING && missing != 0) {
            if (!parts.space.table.makeVoid(slot.slabs, missing)) {
                parts.leave(op);
                return;
            }
            parts.space.onVoid.run();
        }
        if (op.state != PageOp.WAITING) {
            end(op, CodedStatus.CLOSED);
        }
    }

    private int end(PageOp op, int status) {
        if (op.state != PageOp.STRICT) {
            release(op);
        }
        parts.counts.writes++;
        return status;
    }

    /** Releases the page's stripe word, or the part of it that the write still owes, and leaves the slot. */
    private void release(PageOp op) {
        if (!op.called) {
            parts.space.words.endWrite(op.page);
        } else if (op.owed != 0) {
            parts.space.words.pay(op.page, op.owed);
        }
        parts.leave(op);
    }
}
