package io.farheap.server;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.connection.WatermarkExchange;
import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.PullPace;
import io.farheap.control.plane.PullResult;
import io.farheap.control.plane.RebuildPlan;
import io.farheap.control.plane.WatermarkEndpoint;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;

/** A client's end of a paced pull. */
final class PullLeader implements AutoCloseable {

    static final int PIECE = 64 << 10;
    private static final long NOT_BEGUN = -1;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    private final Context context = Devices.open("");
    private final WatermarkExchange exchange = new WatermarkExchange(context, NOT_BEGUN);

    void prepare(
            ControlPlane server, long lease, RegionGrant into, String source, byte[] token, long offset, long end) {
        prepare(server, lease, into, source, token, offset, end, PIECE);
    }

    void prepare(
            ControlPlane server,
            long lease,
            RegionGrant into,
            String source,
            byte[] token,
            long offset,
            long end,
            int piece) {
        connect(server.preparePull(lease, into.regionId(), source, token, pace(offset, end, piece)));
    }

    void prepare(ControlPlane server, long lease, RegionGrant into, RebuildPlan plan, long offset, long end) {
        connect(server.prepareRebuild(lease, into.regionId(), plan, pace(offset, end, PIECE)));
    }

    private PullPace pace(long offset, long end, int piece) {
        return new PullPace(
                new WatermarkEndpoint(exchange.endpoint(), exchange.address(), exchange.remoteKey()),
                offset,
                end,
                piece);
    }

    private void connect(WatermarkEndpoint peer) {
        exchange.connect(peer.endpoint(), peer.remoteAddress(), peer.rkey());
    }

    void clear(long upTo) {
        exchange.tell(upTo);
    }

    long copied() {
        return exchange.theirs();
    }

    void awaitCopied(long mark) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (copied() != mark) {
            assertTrue(System.nanoTime() - deadline < 0, "copied up to " + copied() + "; expected " + mark);
            Thread.yield();
        }
    }

    /** The failure with which a pull ended. */
    static ControlException failure(CompletableFuture<PullResult> pull) {
        CompletionException e = assertThrows(CompletionException.class, () -> pull.orTimeout(60, TimeUnit.SECONDS)
                .join());
        return assertThrows(ControlException.class, () -> {
            throw e.getCause();
        });
    }

    @Override
    public void close() {
        exchange.close();
        context.close();
    }
}
