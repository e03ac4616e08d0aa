package io.farheap.kv.operation;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;

/**
 * Ends a session's requests: it passes the blocks that a request held to their next owner, and keeps the request's
 * status until it is handed over.
 */
public final class RequestCompleter implements RequestSink {

    private final RequestColumns operations;
    private final FailedRequestBlocks doubts;
    private final ValueWriter writer;
    private final ValueReader reader;
    private final MapSessionCounts counts;
    private final PointerCache pointers;

    public RequestCompleter(
            RequestColumns operations,
            FailedRequestBlocks doubts,
            ValueWriter writer,
            ValueReader reader,
            MapSessionCounts counts,
            PointerCache pointers) {
        this.operations = operations;
        this.doubts = doubts;
        this.writer = writer;
        this.reader = reader;
        this.counts = counts;
        this.pointers = pointers;
    }

    @Override
    public void end(int place, int status) {
        if (status == KvStatus.LOST) {
            doubts.lost(place);
        }
        if (writer.isOf(place)) {
            writer.stored();
        }
        if (reader.isOf(place) && status != KvStatus.DONE) {
            reader.release();
        }
        if (RequestColumns.isChange(operations.kind[place])) {
            boolean stored = status == KvStatus.DONE && operations.kind[place] != RequestColumns.DELETE;
            pointers.changed(operations.hash[place], stored ? operations.block[place] : SlotWord.EMPTY);
        }
        operations.holdsNothing(place);
        operations.status[place] = status;
        operations.step[place] = RequestColumns.DONE;
        counts.ended(operations.kind[place], status);
    }
}
