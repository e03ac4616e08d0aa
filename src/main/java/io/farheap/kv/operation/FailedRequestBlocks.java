package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.UnfencedBlocks;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;

/**
 * What becomes of blocks whose request has met a connection that failed. Only a compare-and-swap that was posted leaves
 * a block unknown for good. One that a WRITE may land in waits for the fence, and all others are free at once. One
 * thread.
 */
public final class FailedRequestBlocks {

    private final RequestColumns operations;
    private final RequestPoster posts;
    private final BlockAllocator allocator;
    private final ValueWriter writer;
    private final UnfencedBlocks unfenced;

    public FailedRequestBlocks(
            RequestColumns operations,
            RequestPoster posts,
            BlockAllocator allocator,
            ValueWriter writer,
            UnfencedBlocks unfenced) {
        this.operations = operations;
        this.posts = posts;
        this.allocator = allocator;
        this.writer = writer;
        this.unfenced = unfenced;
    }

    boolean swapUnknown(int place) {
        return operations.hasTrouble(place, RequestColumns.SWAP_UNKNOWN);
    }

    /** The effect of the request's compare-and-swap is known now. */
    void swapKnown(int place) {
        operations.isOver(place, RequestColumns.SWAP_UNKNOWN);
    }

    /**
     * A request continues whose last compare-and-swap, if its effect is unknown, has taken out nothing that it needs.
     */
    void leave(int place) {
        if (swapUnknown(place)) {
            posts.keepEra(operations.era(place));
            allocator.keepUnknown(operations.taking(place));
            operations.takes(place, SlotWord.EMPTY);
            swapKnown(place);
        }
    }

    /** A slot names the request's block, so it is not the request's any more, and neither are the pieces. */
    void handOver(int place) {
        operations.writes(place, SlotWord.EMPTY);
        if (writer.isOf(place)) {
            writer.stored();
        }
    }

    /** The request continues with another block, since the server of its own is not reached. No slot names that. */
    void drop(int place) {
        end(operations.writing(place), false, operations.hasTrouble(place, RequestColumns.WRITE_UNKNOWN));
        operations.writes(place, SlotWord.EMPTY);
    }

    /** The request ends, as it cannot continue. */
    void lost(int place) {
        boolean mayLand = operations.hasTrouble(place, RequestColumns.WRITE_UNKNOWN);
        boolean mayBeNamed = swapUnknown(place) && operations.naming[place];
        if (mayLand || swapUnknown(place)) {
            posts.keepEra(operations.era(place));
        }
        if (swapUnknown(place)) {
            allocator.keepUnknown(operations.taking(place));
        }
        if (operations.writing(place) != SlotWord.EMPTY) {
            end(operations.writing(place), mayBeNamed, mayLand);
        }
        if (writer.isOf(place)) {
            writer.end(piece -> end(piece, mayBeNamed, mayLand));
        }
    }

    private void end(long block, boolean mayBeNamed, boolean mayLand) {
        if (mayBeNamed) {
            allocator.keepUnknown(block);
        } else if (mayLand && !posts.reach().block(block)) {
            // If the lease is lost, nothing lands any more, and its server knows that the block is free.
            if (posts.reach().blockLater(block)) {
                unfenced.add(block);
            }
        } else {
            allocator.giveBack(block);
        }
    }

    /** Connections were made again: blocks in which no WRITE can land any more are free. */
    public void fenced() {
        if (posts.reach().fenced()) {
            posts.fenced();
        }
        if (!unfenced.isEmpty()) {
            unfenced.free(posts.reach()::block, allocator::giveBack);
            unfenced.free(word -> !posts.reach().blockLater(word), word -> {});
        }
    }
}
