package io.farheap.cache.batch;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.ScatterGather;
import io.farheap.cache.route.BatchLane;
import io.farheap.latency.OperationLatency;
import io.farheap.memory.MappedFaults;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.rpc.message.BatchFormat;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Runs the callbacks of a session in batched mode, in the order of issue over both paths. One thread at a time. */
final class BatchCallbacks {

    private final BatchLanes lanes;
    private final IssueOrder runs;
    private final SessionEngine engine;
    private final ScatterGather parts;
    private final @Nullable OperationLatency latency;

    /** @param latency records latencies, or null */
    BatchCallbacks(
            BatchLanes lanes,
            IssueOrder runs,
            SessionEngine engine,
            ScatterGather parts,
            @Nullable OperationLatency latency) {
        this.lanes = lanes;
        this.runs = runs;
        this.engine = engine;
        this.parts = parts;
        this.latency = latency;
    }

    /**
     * Runs the callbacks of requests that have ended.
     *
     * @return how many ran
     */
    int run() {
        // Requests that callbacks issue wait for the next poll: if their server is lost they end at once, and this loop
        // would not end.
        int most = lanes.pending() + engine.pending();
        int called = 0;
        while (called < most && !runs.isEmpty()) {
            BatchLane lane = runs.lane();
            if (lane != null) {
                int ran = run(lane, Math.min(most - called, runs.count()));
                called += ran;
                if (ran == 0) {
                    break;
                }
            } else {
                long end = runs.count();
                called += engine.callbacks().run(end);
                // Requests that its callbacks issued on the one-sided path have made the run longer, and wait for the
                // next poll.
                if (engine.order().head() < runs.count()) {
                    return called;
                }
                runs.next();
            }
        }
        return engine.heldCount() > 0
                ? called + engine.callbacks().run(engine.order().head())
                : called;
    }

    /**
     * Runs the callbacks of the oldest run, as far as its batches are answered.
     *
     * @return how many ran
     */
    private int run(BatchLane lane, long most) {
        BatchConnection connection = lane.connection;
        if (connection.failed()) {
            // Fail the one-sided path too, before a later request can overtake one whose outcome is unknown.
            lanes.lose(lane);
        }
        int ready = (int) Math.min(connection.ready(), most);
        if (ready == 0) {
            return 0;
        }
        boolean succeeded = connection.succeeded();
        int first = connection.head();
        int entry = first;
        try {
            for (int end = first + ready; entry < end; ) {
                if (!succeeded && hasFailed(connection.status(entry))) {
                    if (lane.moved(entry) < 0) {
                        // The next poll moves it.
                        break;
                    }
                    engine.release(lane.moved(entry++));
                    continue;
                }
                int status = succeeded ? Status.OK : status(connection.status(entry));
                Request request = lane.get(entry);
                MemorySegment segment = request.segment;
                if (segment != null) {
                    request.segment = null;
                    status = copyOut(connection, entry, segment, status);
                }
                request.record(latency);
                Completion completion = request.completion;
                long token = request.token;
                int group = lane.group[entry];
                // Update all state before the callback, which may throw.
                entry += group;
                lanes.pendingBy(-group);
                if (group == 1) {
                    completion.completed(token, status);
                } else {
                    endGroup(lane, entry - group, group, succeeded, status);
                }
            }
        } finally {
            connection.finish(entry - first);
            runs.take(entry - first);
        }
        return entry - first;
    }

    /**
     * Ends a group of records of one request.
     *
     * @param status of the first record
     */
    private void endGroup(BatchLane lane, int first, int records, boolean succeeded, int status) {
        int worst = status;
        if (!succeeded) {
            for (int entry = first + 1; entry < first + records; entry++) {
                worst = Status.worse(worst, status(lane.connection.status(entry)));
            }
        }
        parts.completed((int) lane.get(first).token, worst, records);
    }

    private static boolean hasFailed(byte status) {
        return status == BatchConnection.LOST || status == BatchConnection.UNSENT;
    }

    /**
     * Translates an answer. If the server answers that the session does not have the region, the lease is lost, and the
     * region with it: a migration drains batches before it takes a region away.
     */
    private static int status(byte answered) {
        return answered == BatchFormat.DONE ? Status.OK : Status.LOST;
    }

    private static int copyOut(BatchConnection connection, int entry, MemorySegment segment, int status) {
        if (status != Status.OK) {
            return status;
        }
        try {
            connection.copyTo(entry, segment);
            MappedFaults.raise(segment);
            return Status.OK;
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            // As with bounce buffers: the segment was closed, or its file has become shorter.
            return Status.SEGMENT_GONE;
        }
    }
}
