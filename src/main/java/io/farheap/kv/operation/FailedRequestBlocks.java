package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.UnfencedBlocks;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;

/**
 * Decides about the blocks of a request that has met a failed connection. Only a compare-and-swap that was posted, and
 * whose slot does not show what has become of it, leaves blocks unknown: once nothing that was posted can take effect
 * any more, the services find out whether such a block is in use. A block in which a WRITE may still land waits for the
 * fence, and all others are free at once. One thread.
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
     * Lets a request continue although the effect of its last compare-and-swap is unknown: it has removed nothing that
     * the request needs.
     */
    void leave(int place) {
        if (swapUnknown(place)) {
            posts.keepEra(operations.era(place));
            allocator.keepUnknown(operations.taking(place));
            operations.takes(place, SlotWord.EMPTY);
            swapKnown(place);
            letGo();
        }
    }

    /** A slot names the request's block, so neither the block nor its pieces belong to the request any more. */
    void handOver(int place) {
        operations.writes(place, SlotWord.EMPTY);
        if (writer.isOf(place)) {
            writer.stored();
        }
    }

    /**
     * The request continues with another block, since the server of its own cannot be reached. No slot names its own.
     */
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
        operations.holdsNothing(place);
        letGo();
    }

    private void letGo() {
        if (posts.reach().fenced()) {
            allocator.letGoOfUnknown();
        }
    }

    private void end(long block, boolean mayBeNamed, boolean mayLand) {
        if (mayBeNamed) {
            allocator.keepUnknown(block);
        } else if (mayLand && !posts.reach().block(block)) {
            // If the lease is lost, or all connections have ended, no WRITE lands any more, and the server collects the
            // block.
            if (posts.reach().blockLater(block)) {
                unfenced.add(block);
            } else {
                allocator.losesSight();
            }
        } else {
            // Under its next incarnation: for the present one, a slot may have the hash of the request's key.
            allocator.reclaim(block);
        }
    }

    /** Connections were made again: frees the blocks in which no WRITE can land any more. */
    public void fenced() {
        if (posts.reach().fenced()) {
            posts.fenced();
        }
        letGo();
        if (!unfenced.isEmpty()) {
            unfenced.free(posts.reach()::block, allocator::reclaim);
            unfenced.free(word -> !posts.reach().blockLater(word), word -> allocator.losesSight());
        }
    }
}
