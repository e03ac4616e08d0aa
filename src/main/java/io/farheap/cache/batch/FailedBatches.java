package io.farheap.cache.batch;

import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.order.Request;
import io.farheap.cache.order.RequestFailure;
import io.farheap.cache.route.BatchLane;
import io.farheap.rpc.batch.BatchConnection;
import org.jspecify.annotations.Nullable;

/**
 * Moves the requests in batches of a connection that failed to the one-sided path, which waits for the fence, repeats
 * reads, and ends writes. Each keeps its place in the order of issue: it is called back in its turn, or later. Inside
 * the session's gate.
 */
final class FailedBatches {

    private final BatchLanes lanes;
    private final IssueOrder runs;
    private final SessionEngine engine;

    FailedBatches(BatchLanes lanes, IssueOrder runs, SessionEngine engine) {
        this.lanes = lanes;
        this.runs = runs;
        this.engine = engine;
    }

    /**
     * Moves the requests of lanes that were lost since the last call.
     *
     * @return whether there were such lanes
     */
    boolean move() {
        if (!lanes.takeFresh()) {
            return false;
        }
        for (int i = 0; i < runs.runs(); i++) {
            BatchLane lane = runs.lane(i);
            if (lane != null && lane.lost) {
                lane.rewind();
            }
        }
        long before = engine.order().head();
        for (int i = 0; i < runs.runs(); i++) {
            BatchLane lane = runs.lane(i);
            if (lane == null) {
                before = runs.count(i);
            } else if (lane.lost) {
                move(lane, runs.count(i), before);
            }
        }
        engine.holdBehindAdopted();
        return true;
    }

    private void move(BatchLane lane, long requests, long before) {
        for (long left = requests; left > 0; ) {
            int first = lane.next();
            int records = lane.group[first];
            left -= records;
            if (!lane.failed(first) || lane.moved(first) >= 0) {
                continue;
            }
            Request request = lane.get(first);
            for (int entry = first; entry < first + records; entry++) {
                lane.move(
                        entry,
                        engine.adopt(
                                request,
                                lane.address(entry),
                                local(lane, request, entry, records),
                                before,
                                failure(lane, request, entry)));
            }
            lanes.pendingBy(-records);
        }
    }

    /** The address of a record's data; 0 if they are in a segment, or were in the batch alone. */
    private static long local(BatchLane lane, Request request, int entry, int records) {
        if (request.buffer == null) {
            return 0;
        }
        if (records == 1) {
            return request.local;
        }
        return request.write ? 0 : lane.connection.local(entry);
    }

    private static @Nullable RequestFailure failure(BatchLane lane, Request request, int entry) {
        if (lane.connection.status(entry) == BatchConnection.UNSENT) {
            return null;
        }
        RequestFailure failure = new RequestFailure();
        if (request.write) {
            failure.posted(lane.remote, lane.end);
        }
        return failure;
    }
}
