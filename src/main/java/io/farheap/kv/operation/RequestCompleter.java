package io.farheap.kv.operation;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.space.MapSessionCounts;
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

    public RequestCompleter(
            RequestColumns operations,
            FailedRequestBlocks doubts,
            ValueWriter writer,
            ValueReader reader,
            MapSessionCounts counts) {
        this.operations = operations;
        this.doubts = doubts;
        this.writer = writer;
        this.reader = reader;
        this.counts = counts;
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
        operations.holdsNothing(place);
        operations.status[place] = status;
        operations.step[place] = RequestColumns.DONE;
        counts.ended(operations.kind[place], status);
    }
}
