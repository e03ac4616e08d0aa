package io.farheap.cache.onesided;

import io.farheap.cache.contract.Status;
import io.farheap.cache.order.PostedRequest;
import io.farheap.cache.order.Request;
import io.farheap.cache.route.Routes;
import io.farheap.connection.Connection;
import io.farheap.migration.region.RegionEntry;
import io.farheap.migration.region.RegionTable;
import io.farheap.migration.region.SplitRegion;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.queue.QueuePoster;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** Cuts a session's requests into work requests, and posts them. One thread at a time. */
public final class PartPoster {

    enum PostProgress {
        /** The whole request is posted. */
        POSTED,
        /** There is no room for the next work request. */
        NO_ROOM,
        /** The next part is in a region that is moving. */
        HELD
    }

    /** Something beside the connections that requests may have to wait for. */
    public interface Barrier {

        /** Whether it blocks anything at all. */
        boolean present();

        /** Whether a request to a range must not be posted yet; it is asked again with the next poll. */
        boolean blocks(long address, long length);
    }

    private final QueuePoster queue;
    private final Routes routes;
    private final RegionTable table;
    private final BounceBuffers bounce;
    private final int maxMessageBytes;
    /** Null where no request has to wait for anything. */
    private @Nullable Barrier barrier;

    PartPoster(QueuePoster queue, Routes routes, BounceBuffers bounce, int maxMessageBytes) {
        this.queue = queue;
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
    PostProgress post(PostedRequest request) {
        try {
            return postRest(request);
        } catch (Throwable e) {
            // It alone ends: what is behind it goes on with the next poll.
            request.lose();
            throw e;
        }
    }

    private PostProgress postRest(PostedRequest request) {
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
                    return PostProgress.HELD;
                }
                end = split.end(region, offset);
            }
            int bytes = (int) Math.min(Math.min(length - posted, end - offset), maxMessageBytes);
            if (barrier != null && barrier.blocks(at, bytes)) {
                return PostProgress.NO_ROOM;
            }
            MemorySegment segment = request.segment;
            Connection connection = routes.connection(region.serverIndex());
            if (connection == null || connection.failed()) {
                skip(request, bytes, Status.LOST);
            } else if (!queue.hasRoom(connection) || segment != null && bounce.isEmpty()) {
                return PostProgress.NO_ROOM;
            } else if (segment == null) {
                postPart(
                        request,
                        request.place,
                        connection,
                        request.local + posted,
                        request.localKey(),
                        region.address() + offset,
                        region.remoteKey(),
                        bytes);
            } else {
                postBounced(request, segment, connection, region.address() + offset, region.remoteKey(), bytes);
            }
        }
        return PostProgress.POSTED;
    }

    /** So much of a request is not posted. */
    private static void skip(PostedRequest request, int bytes, int status) {
        request.status = status;
        request.posted += bytes;
    }

    private void postPart(
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
        long tag = PartCompletions.tag(request, chunk);
        postPart(request, tag, connection, bounce.address(chunk), bounce.localKey(), remote, remoteKey, bytes);
    }
}
