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

/**
 * Cuts a session's requests into work requests, and posts them. A work request ends where its region, the copy of that
 * part of a region that is in two places, or the largest message ends; if its data are in a segment, also after the
 * length of a bounce chunk. {@link SessionEngine} calls this in the order of issue, inside the session's gate.
 */
public final class PartPoster {

    enum PostProgress {
        /** The whole request is posted. */
        POSTED,
        /**
         * The next work request cannot be posted yet: its connection or the bounce buffer has no room, or the barrier
         * blocks it.
         */
        NO_ROOM,
        /** The next part is in a range that a migration holds, or its server cannot be reached now. */
        HELD
    }

    /** Operations on another way to the servers (batches) that requests may have to wait for. */
    public interface Barrier {

        /** Whether it may block a request now. */
        boolean present();

        /**
         * Whether a work request to a range must not be posted yet. If so, the poster calls this again with the next
         * poll.
         */
        boolean blocks(long address, long length);
    }

    private final QueuePoster queue;
    private final Routes routes;
    private final RegionTable table;
    private final BounceBuffers bounce;
    private final int maxMessageBytes;
    private final RequestRecovery recovery;
    /** Null if all requests travel through this poster. */
    private @Nullable Barrier barrier;

    PartPoster(QueuePoster queue, Routes routes, BounceBuffers bounce, int maxMessageBytes, RequestRecovery recovery) {
        this.queue = queue;
        this.routes = routes;
        this.table = routes.table();
        this.bounce = bounce;
        this.maxMessageBytes = maxMessageBytes;
        this.recovery = recovery;
    }

    void barrier(Barrier asked) {
        barrier = asked;
    }

    boolean hasBarrier() {
        return barrier != null && barrier.present();
    }

    /** Posts the rest of a request, as far as it can be posted now. */
    PostProgress post(PostedRequest request) {
        try {
            return postRest(request);
        } catch (Throwable e) {
            // Only this request ends: the next poll continues with those behind it.
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
                if (region.server().lost() == null) {
                    recovery.miss(region.server());
                    return PostProgress.HELD;
                }
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

    /**
     * Whether the server of a range's first byte has no connection now and can have one later; a range that a migration
     * holds has no server yet.
     */
    boolean isUnreachable(boolean write, long address) {
        RegionEntry entry = table.get(table.indexOf(address));
        SplitRegion split = entry.split();
        RemoteRegion region = split == null ? entry.copy() : split.copy(write, table.offsetOf(address));
        if (region == null) {
            return false;
        }
        Connection connection = routes.connection(region.serverIndex());
        return (connection == null || connection.failed()) && region.server().lost() == null;
    }

    /** Passes over bytes of a request that will not be posted, and stores why. */
    private static void skip(PostedRequest request, int bytes, int status) {
        request.status = Status.worse(request.status, status);
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
