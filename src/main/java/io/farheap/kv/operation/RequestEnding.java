package io.farheap.kv.operation;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.space.Counts;
import io.farheap.kv.space.Operations;

/** A session's requests end: what each held goes on to whom it belongs now, and its status waits to be handed over. */
public final class RequestEnding implements Ending {

    private final Operations operations;
    private final Doubts doubts;
    private final ValueWriter writer;
    private final ValueReader reader;
    private final Counts counts;

    public RequestEnding(Operations operations, Doubts doubts, ValueWriter writer, ValueReader reader, Counts counts) {
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
        operations.step[place] = Operations.DONE;
        counts.ended(operations.kind[place], status);
    }
}
