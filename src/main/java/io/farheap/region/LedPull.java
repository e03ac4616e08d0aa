package io.farheap.region;

import io.farheap.connection.MarkExchange;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.Mark;
import io.farheap.control.PullPace;
import io.farheap.control.PullResult;
import io.farheap.control.Ticket;
import io.farheap.verbs.Context;
import io.farheap.verbs.VerbsException;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;

/**
 * A pull that goes at this process's pace: the client's end of a {@link PullPace}. One thread at a time, which closes it. Everything throws
 * {@link ControlException} once the pull has failed.
 */
final class LedPull implements AutoCloseable {

    private static final long NOT_BEGUN = -1;
    private static final int SLOWNESS = Integer.getInteger("farheap.slowness", 1);
    private static final long BEGIN_TIMEOUT_NANOS = 10_000_000_000L * SLOWNESS;
    private static final long STOP_TIMEOUT_NANOS = 100_000_000L;
    private static final long PARK_NANOS = 20_000;

    private final RemoteServer server;
    private final MarkExchange exchange;
    private final long offset;
    private final long end;
    private CompletableFuture<PullResult> result;
    private long cleared;
    private long copied;

    private LedPull(RemoteServer server, MarkExchange exchange, long offset, long end) {
        this.server = server;
        this.exchange = exchange;
        this.offset = offset;
        this.end = end;
        this.cleared = offset;
        this.copied = offset;
    }

    /**
     * Has everything ready but the copy, and returns when the server waits for {@link #clear}.
     *
     * @param into   fills this region, from {@code offset} on to {@code end}
     * @param source with this one's bytes, at the same offsets
     */
    static LedPull begin(Context context, RemoteRegion into, RemoteRegion source, long offset, long end, int pieceBytes) {
        Ticket ticket = source.server().export(source);
        MarkExchange exchange = new MarkExchange(context, NOT_BEGUN);
        LedPull pull = new LedPull(into.server(), exchange, offset, end);
        try {
            Mark client = new Mark(exchange.endpoint(), exchange.address(), exchange.remoteKey());
            Mark peer = into.server().preparePull(into, source.server(), ticket, new PullPace(client, offset, end, pieceBytes));
            exchange.connect(peer.endpoint(), peer.remoteAddress(), peer.rkey());
            // Clears nothing, but a device that maps a peer's memory on first use does so now, while nobody waits for it.
            exchange.tell(offset);
            pull.start(into, source.server(), ticket);
            return pull;
        } catch (VerbsException e) {
            pull.close();
            throw pull.unreachable(e);
        } catch (Throwable e) {
            pull.close();
            throw e;
        }
    }

    private void start(RemoteRegion into, RemoteServer source, Ticket ticket) {
        result = new CompletableFuture<>();
        Thread.ofVirtual().name("farheap-pull").start(() -> {
            try {
                result.complete(server.pull(into, source, ticket));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        long deadline = System.nanoTime() + BEGIN_TIMEOUT_NANOS;
        while (exchange.theirs() != offset) {
            check();
            if (System.nanoTime() - deadline > 0) {
                throw new ControlException(Code.DEADLINE_EXCEEDED, "memory server " + server + " has not begun to pull within "
                    + BEGIN_TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            LockSupport.parkNanos(PARK_NANOS);
        }
    }

    /** Lets the server copy up to an offset: nothing that is posted changes what lies before it. */
    void clear(long upTo) {
        try {
            exchange.tell(upTo);
        } catch (VerbsException e) {
            throw unreachable(e);
        }
        cleared = upTo;
    }

    /** Up to where all has arrived. */
    long copied() {
        long mark = exchange.theirs();
        if (mark != copied) {
            if (mark < copied || mark > cleared) {
                throw new ControlException(Code.PULL_FAILED, "memory server " + server + " says that it has copied up to byte " + mark
                    + ", after " + copied + "; it may copy up to " + cleared);
            }
            copied = mark;
        }
        return mark;
    }

    /** Throws where the pull has failed. */
    void check() {
        if (server.lost() != null) {
            throw server.lost();
        }
        try {
            exchange.check();
        } catch (VerbsException e) {
            throw unreachable(e);
        }
        if (result.isDone() && exchange.theirs() != end) {
            result();
            throw new ControlException(Code.PULL_FAILED, "memory server " + server + " ended its pull at byte " + copied + " of " + end);
        }
    }

    /** What the server took, once all has arrived. */
    PullResult result() {
        try {
            return result.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof ControlException refused ? refused : e;
        }
    }

    private ControlException unreachable(VerbsException e) {
        return new ControlException(Code.UNAVAILABLE, "memory server " + server + " cannot be reached: " + e.getMessage(), e);
    }

    /** Ends the pull, where it has not ended: the server is told, or learns it otherwise. */
    @Override
    public void close() {
        try {
            if (result != null && !result.isDone()) {
                stop();
            }
        } finally {
            exchange.close();
        }
    }

    private void stop() {
        try {
            exchange.tell(PullPace.STOP);
            long deadline = System.nanoTime() + STOP_TIMEOUT_NANOS;
            while (!result.isDone() && System.nanoTime() - deadline < 0) {
                exchange.check();
                LockSupport.parkNanos(PARK_NANOS);
            }
        } catch (VerbsException e) {
            // It is gone, or cannot tell this end how far it is: then it stops too.
        }
    }
}
