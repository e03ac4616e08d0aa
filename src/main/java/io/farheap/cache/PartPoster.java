package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.migration.RegionEntry;
import io.farheap.migration.RegionTable;
import io.farheap.migration.SplitRegion;
import io.farheap.remote.RemoteRegion;
import io.farheap.verbs.OneOperation;
import io.farheap.verbs.WcStatus;
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
    Posting post(int request, SessionQueue queue) {
        long length = requests.length[request];
        boolean write = requests.write[request];
        while (requests.posted[request] < length) {
            long posted = requests.posted[request];
            long at = requests.address[request] + posted;
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
            Connection connection = routes.connection(region.serverIndex());
            if (connection == null || connection.failed()) {
                skip(request, bytes, Status.LOST);
            } else if (!queue.hasRoom(connection) || requests.segment[request] != null && bounce.isEmpty()) {
                return Posting.NO_ROOM;
            } else if (requests.segment[request] == null) {
                postPart(
                        queue,
                        request,
                        request,
                        connection,
                        requests.local[request] + posted,
                        requests.buffer[request].localKey(),
                        region.address() + offset,
                        region.remoteKey(),
                        bytes);
            } else {
                postBounced(queue, request, connection, region.address() + offset, region.remoteKey(), bytes);
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
    void adopt(int request, int result, @Nullable Connection connection, long remote, SessionQueue queue) {
        if (result == OneOperation.OTHER_COMPLETION) {
            queue.stashOther();
        }
        if (result != OneOperation.FAILED) {
            queue.adopt(connection, request, requests.write[request], remote, (int) requests.length[request]);
            requests.outstanding[request] = 1;
        } else {
            queue.fail(connection);
            requests.status[request] = Status.LOST;
        }
    }

    /** So much of a request is not posted. */
    private void skip(int request, int bytes, int status) {
        requests.status[request] = status;
        requests.posted[request] += bytes;
    }

    private void postPart(
            SessionQueue queue,
            int request,
            long tag,
            Connection connection,
            long local,
            int localKey,
            long remote,
            int remoteKey,
            int bytes) {
        requests.posted[request] += bytes;
        requests.outstanding[request]++;
        if (requests.atomic[request] != Requests.NO_ATOMIC) {
            queue.postAtomic(
                    connection,
                    requests.atomic[request] == Requests.SWAP,
                    tag,
                    local,
                    localKey,
                    remote,
                    remoteKey,
                    requests.compareOrAdd[request],
                    requests.value[request]);
            return;
        }
        queue.post(connection, requests.write[request], tag, local, localKey, remote, remoteKey, bytes);
    }

    private void postBounced(
            SessionQueue queue, int request, Connection connection, long remote, int remoteKey, int available) {
        int bytes = Math.min(available, BounceBuffers.CHUNK_BYTES);
        int chunk = bounce.take(requests.posted[request], bytes);
        if (requests.write[request] && !bounce.copyIn(chunk, requests.segment[request])) {
            bounce.give(chunk);
            skip(request, bytes, Status.SEGMENT_GONE);
            return;
        }
        long tag = (long) (chunk + 1) << TAG_CHUNK_SHIFT | request;
        postPart(queue, request, tag, connection, bounce.address(chunk), bounce.localKey(), remote, remoteKey, bytes);
    }

    @Override
    public void ended(long tag, int count, int status) {
        int request = (int) tag;
        requests.outstanding[request] -= count;
        if (tag >>> TAG_CHUNK_SHIFT != 0 || status != WcStatus.SUCCESS) {
            endUnusual(request, (int) (tag >>> TAG_CHUNK_SHIFT) - 1, status);
        }
    }

    /** @param chunk that the work request's data went through; -1 for none */
    private void endUnusual(int request, int chunk, int status) {
        if (status != WcStatus.SUCCESS) {
            requests.status[request] = Status.LOST;
            routes.forget();
        }
        if (chunk >= 0) {
            if (status == WcStatus.SUCCESS
                    && !requests.write[request]
                    && !bounce.copyOut(chunk, requests.segment[request])) {
                requests.status[request] = Status.SEGMENT_GONE;
            }
            bounce.give(chunk);
        }
    }
}
