package io.farheap.resilience.session;

import io.farheap.memory.MappedFaults;
import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.table.StripeWords;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Reads of pages and of parts of pages: they ask for splits, check that no write was under way meanwhile, and decode. A
 * read takes no stripe word at first; it compares the word before and after, and repeats if it changed.
 */
final class PageReads {

    /** The operation has not ended; other values are statuses. */
    static final int NOT_YET = -1;

    /** How often a write may come in between before a read keeps writers out. */
    private static final int OPTIMISTIC = 4;

    private final CodedSessionContext parts;
    private final SplitGatherer gather;

    PageReads(CodedSessionContext parts, SplitGatherer gather) {
        this.parts = parts;
        this.gather = gather;
    }

    /**
     * Begins a read whose turn it is, if it can begin.
     *
     * @return {@link #NOT_YET}, or the status with which it has ended
     */
    int begin(PageOp op, CodedRequests.CodedRequest request) {
        StripeWords words = parts.space.words;
        if (op.tries >= OPTIMISTIC && !op.underWord) {
            // If another operation has the word, perhaps for long, the page is read as before.
            op.underWord = words.tryHold(op.page);
        }
        op.word = words.look(op.page);
        if (StripeWords.writing(op.word)) {
            return NOT_YET;
        }
        PageBuffer slot = op.slot != null ? op.slot : parts.takeSlot(op);
        if (slot == null) {
            return NOT_YET;
        }
        op.slot = slot;
        op.state = PageOp.GATHERING;
        return after(op, slot, request, gather.begin(op, slot, op.word));
    }

    /** A split has come, or has failed; as {@link #begin}. */
    int arrived(PageOp op, PageBuffer slot, int split, boolean done, CodedRequests.CodedRequest request) {
        return after(op, slot, request, gather.arrived(op, slot, split, done));
    }

    /**
     * Continues or ends a read after the gatherer has looked at its splits; returns as {@link #begin}.
     *
     * @param found what the gatherer returned
     */
    int after(PageOp op, PageBuffer slot, CodedRequests.CodedRequest request, int found) {
        return switch (found) {
            case SplitGatherer.READY -> ready(op, slot, request);
            case SplitGatherer.STARVED -> again(op);
            case SplitGatherer.LOST -> end(op, CodedStatus.LOST);
            default -> NOT_YET;
        };
    }

    private int ready(PageOp op, PageBuffer slot, CodedRequests.CodedRequest request) {
        if (!op.underWord) {
            VarHandle.acquireFence();
            if (!StripeWords.same(op.word, parts.space.words.look(op.page))) {
                parts.counts.retried++;
                op.tries++;
                return again(op);
            }
        }
        switch (gather.agree(op, slot)) {
            case SplitGatherer.WAITS -> {
                return NOT_YET;
            }
            case SplitGatherer.CORRUPT -> {
                return end(op, CodedStatus.CORRUPT);
            }
            default -> {}
        }
        MemorySegment memory = request.memory;
        return end(op, memory == null ? CodedStatus.CLOSED : deliver(op, slot, memory, request.at + op.memoryAt));
    }

    private int again(PageOp op) {
        op.state = PageOp.WAITING;
        parts.leave(op);
        return NOT_YET;
    }

    private int end(PageOp op, int status) {
        if (op.underWord) {
            parts.space.words.endHold(op.page);
            op.underWord = false;
        }
        parts.leave(op);
        parts.counts.reads++;
        return status;
    }

    /** The session gives it up. */
    void abandon(PageOp op) {
        end(op, CodedStatus.CLOSED);
    }

    /**
     * Copies the splits that came to the request's memory. Decodes the others into the scratch page, since a late split
     * may still land in its place of the slot.
     */
    private int deliver(PageOp op, PageBuffer slot, MemorySegment memory, long at) {
        int made = op.touched & ~op.have;
        if (made != 0) {
            parts.counts.decoded++;
            parts.aim(slot, op);
            for (int left = made; left != 0; left &= left - 1) {
                int split = Integer.numberOfTrailingZeros(left);
                parts.addresses[split] = parts.scratchAddress(split, op);
            }
            parts.coder.recover(parts.addresses, op.columnBytes, op.have, made);
        }
        try {
            copy(op, slot, made, memory, at);
            MappedFaults.raise(memory);
            return CodedStatus.OK;
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            // The last is how the JVM says that a mapped file has become shorter.
            return CodedStatus.SEGMENT_GONE;
        }
    }

    /** Copies neighbouring splits from the same source in one piece. */
    private void copy(PageOp op, PageBuffer slot, int made, MemorySegment memory, long at) {
        int splitBytes = parts.splitBytes;
        int end = op.pageFrom + op.bytes;
        int from = op.pageFrom;
        while (from < end) {
            int split = from / splitBytes;
            boolean scratch = (made >>> split & 1) != 0;
            int to = split;
            while ((to + 1) * splitBytes < end && (made >>> to + 1 & 1) != 0 == scratch) {
                to++;
            }
            int until = Math.min(end, (to + 1) * splitBytes);
            MemorySegment source = scratch ? parts.scratch : parts.memory;
            MemorySegment.copy(
                    source, scratch ? from : slot.at + from, memory, at + from - op.pageFrom, (long) until - from);
            from = until;
        }
    }
}
