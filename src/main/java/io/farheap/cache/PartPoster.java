package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.migration.RegionEntry;
import io.farheap.migration.RegionTable;
import io.farheap.migration.SplitRegion;
import io.farheap.remote.RemoteRegion;
import io.farheap.verbs.OneOperation;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a session's requests into work requests, and knows what has become of these. A work request's tag is its
 * request's place, and above {@value #TAG_CHUNK_SHIFT} bits one more than the bounce buffer's chunk that its data go
 * through. One thread at a time.
 */
final class PartPoster implements SessionQueue.Ended {

    private static final int TAG_CHUNK_SHIFT = 32;

    enum Posting {
        /** The whole request is posted. */
        POSTED,
        /** There is no room for the next work request. */
        NO_ROOM,
        /** The next part is in a region that is moving. */
        HELD
    }

    /** Something beside the connections that requests may have to wait for. */
    interface Barrier {

        /** Whether it blocks anything at all. */
        boolean present();

        /** Whether a request to a range must not be posted yet; it is asked again with the next poll. */
        boolean blocks(long address, long length);
    }

    private final PostedRequests requests;
    private final Routes routes;
    private final RegionTable table;
    private final BounceBuffers bounce;
    private final int maxMessageBytes;
    /** Null where no request has to wait for anything. */
    private @Nullable Barrier barrier;

    PartPoster(PostedRequests requests, Routes routes, BounceBuffers bounce, int maxMessageBytes) {
        this.requests = requests;
        this.routes = routes;
        this.table = routes.table();
        this.bounce = bounce;
        this.maxMessageBytes = maxMessageBytes;
    }

    void barrier(Barrier asked) {
        barrier = asked;
    }

    boolean hasBarrier() {
        return barrier != null && barrier.present();
    }

    /** Posts what is left of a request, cut where regions, their parts and messages end. */
    Posting post(PostedRequest request, SessionQueue queue) {
        try {
            return postRest(request, queue);
        } catch (Throwable e) {
            // It alone ends: what is behind it goes on with the next poll.
            request.lose();
            throw e;
        }
    }

    private Posting postRest(PostedRequest request, SessionQueue queue) {
        long length = request.length;
        boolean write = request.write;
        while (request.posted < length) {
            long posted = request.posted;
            long at = request.address + posted;
            RegionEntry entry = table.get(table.indexOf(at));
            RemoteRegion region = entry.copy();
            long offset = table.offsetOf(at);
            long end = table.regionBytes();
            SplitRegion split = entry.split();
            if (split != null) {
                region = split.copy(write, offset);
                if (region == null) {
                    return Posting.HELD;
                }
                end = split.end(region, offset);
            }
            int bytes = (int) Math.min(Math.min(length - posted, end - offset), maxMessageBytes);
            if (barrier != null && barrier.blocks(at, bytes)) {
                return Posting.NO_ROOM;
            }
            MemorySegment segment = request.segment;
            Connection connection = routes.connection(region.serverIndex());
            if (connection == null || connection.failed()) {
                skip(request, bytes, Status.LOST);
            } else if (!queue.hasRoom(connection) || segment != null && bounce.isEmpty()) {
                return Posting.NO_ROOM;
            } else if (segment == null) {
                postPart(
                        queue,
                        request,
                        request.place,
                        connection,
                        request.local + posted,
                        request.localKey(),
                        region.address() + offset,
                        region.remoteKey(),
                        bytes);
            } else {
                postBounced(queue, request, segment, connection, region.address() + offset, region.remoteKey(), bytes);
            }
        }
        return Posting.POSTED;
    }

    /**
     * Makes what was tried in one native call, and has not ended well at once, an ordinary request's one work request.
     *
     * @param result of {@link OneOperation#run}
     */
    // An operation is its connection's.
    @SuppressWarnings("NullAway")
    void adopt(PostedRequest request, int result, @Nullable Connection connection, long remote, SessionQueue queue) {
        if (result == OneOperation.OTHER_COMPLETION) {
            queue.stashOther();
        }
        if (result != OneOperation.FAILED) {
            queue.adopt(connection, request.place, request.write, remote, (int) request.length);
            request.outstanding = 1;
        } else {
            queue.fail(connection);
            request.status = Status.LOST;
        }
    }

    /** So much of a request is not posted. */
    private static void skip(PostedRequest request, int bytes, int status) {
        request.status = status;
        request.posted += bytes;
    }

    private static void postPart(
            SessionQueue queue,
            PostedRequest request,
            long tag,
            Connection connection,
            long local,
            int localKey,
            long remote,
            int remoteKey,
            int bytes) {
        request.posted += bytes;
        request.outstanding++;
        if (request.atomic != Request.NO_ATOMIC) {
            queue.postAtomic(
                    connection,
                    request.atomic == Request.SWAP,
                    tag,
                    local,
                    localKey,
                    remote,
                    remoteKey,
                    request.compareOrAdd,
                    request.value);
            return;
        }
        queue.post(connection, request.write, tag, local, localKey, remote, remoteKey, bytes);
    }

    private void postBounced(
            SessionQueue queue,
            PostedRequest request,
            MemorySegment segment,
            Connection connection,
            long remote,
            int remoteKey,
            int available) {
        int bytes = Math.min(available, BounceBuffers.CHUNK_BYTES);
        int chunk = bounce.take(request.posted, bytes);
        boolean copied = false;
        try {
            copied = !request.write || bounce.copyIn(chunk, segment);
        } finally {
            if (!copied) {
                bounce.give(chunk);
            }
        }
        if (!copied) {
            skip(request, bytes, Status.SEGMENT_GONE);
            return;
        }
        long tag = (long) (chunk + 1) << TAG_CHUNK_SHIFT | request.place;
        postPart(queue, request, tag, connection, bounce.address(chunk), bounce.localKey(), remote, remoteKey, bytes);
    }

    @Override
    public void ended(long tag, int count, int status) {
        PostedRequest request = requests.get((int) tag);
        request.outstanding -= count;
        if (tag >>> TAG_CHUNK_SHIFT != 0 || status != WcStatus.SUCCESS) {
            endUnusual(request, (int) (tag >>> TAG_CHUNK_SHIFT) - 1, status);
        }
    }

    /** @param chunk that the work request's data went through; -1 for none */
    // Data go through a chunk from a segment, or to one.
    @SuppressWarnings("NullAway")
    private void endUnusual(PostedRequest request, int chunk, int status) {
        if (status != WcStatus.SUCCESS) {
            request.status = Status.LOST;
            routes.forget();
        }
        if (chunk >= 0) {
            if (status == WcStatus.SUCCESS && !request.write && !bounce.copyOut(chunk, request.segment)) {
                request.status = Status.SEGMENT_GONE;
            }
            bounce.give(chunk);
        }
    }
}
