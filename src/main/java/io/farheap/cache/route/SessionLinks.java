package io.farheap.cache.route;

import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.ServerAttachment;
import io.farheap.remote.server.ServerLinks;
import io.farheap.thread.OwnerGate;
import java.util.concurrent.CompletableFuture;

/**
 * A session's ends to all servers, of one kind: queue pairs, or message rings. Migrations and the cache make, replace,
 * drain and end them. Any thread may call, except the session's own.
 *
 * <p>The calling thread claims the session's gate for the moments in which the session must not use its ends, and
 * writes the fields that the session uses with the gate claimed. A heavy fence after which the session's thread is seen
 * outside of the gate has the same effect as a claim.
 *
 * @param <E> an end together with the server's end
 */
public abstract class SessionLinks<E extends ServerAttachment> implements MigrationLinks, ServerLinks.Owner<E> {

    /** What is known about the operations posted to a server. */
    public enum Drain {
        /** All of them have ended. */
        DONE,
        /** They are awaited. */
        UNDER_WAY,
        /** Nothing is known until the server's end is fenced. */
        UNKNOWN
    }

    private final MigrationLinks beside;
    public final OwnerGate gate;
    private final ServerLinks<E> links;
    /**
     * Whether the latest drain awaits operations here, and until when, as {@code nanoTime}. With the gate claimed; one
     * migration at a time drains.
     */
    private boolean draining;

    private long drainDeadline;

    /**
     * @param beside the session's links of the other kind, which this object owns and calls first; or
     *     {@link MigrationLinks#NONE}
     */
    public SessionLinks(MigrationLinks beside, OwnerGate gate) {
        this.beside = beside;
        this.gate = gate;
        this.links = new ServerLinks<>(this, gate);
    }

    /** Whether the session has an end to a server that has not failed. With the gate claimed. */
    public abstract boolean usable(int server);

    /**
     * Whether it is certain that no operation is in flight to a server. With the gate claimed, or with the session's
     * thread known to be outside of it.
     */
    public abstract boolean idle(int server);

    /** Begins to await the operations in flight on an end that is usable and not idle. With the gate claimed. */
    public abstract Drain beginDrain(RemoteRegion region);

    /**
     * Whether the operations that the latest drain awaits have ended. With the gate claimed; the session may have no
     * end to that server any more.
     */
    public abstract boolean endsDrain(int server);

    @Override
    public final void connect(RemoteServer server) {
        beside.connect(server);
        links.connect(server);
    }

    @Override
    public final void disconnect(RemoteServer server) {
        beside.disconnect(server);
        links.abandon(server);
        abandoned(server);
    }

    /** The session has left a server for good. Without the gate. */
    public void abandoned(RemoteServer server) {}

    /** A failed end is fenced before it is replaced, and before requests can take another way. */
    @Override
    public final void ensure(RemoteServer server) {
        links.ensure(server, () -> beside.ensure(server));
    }

    @Override
    public final void lose(RemoteServer server) {
        beside.lose(server);
        gate.claimed(() -> {
            if (!links.isShut()) {
                fail(server);
            }
        });
    }

    @Override
    public final boolean isDrained(RemoteRegion region) {
        return beside.isDrained(region) && gate.vacant() && idle(region.serverIndex());
    }

    @Override
    public final boolean drain(RemoteRegion region) {
        boolean besideDone = beside.drain(region);
        Drain drain = Drain.DONE;
        int server = region.serverIndex();
        gate.claim();
        try {
            if (!idle(server)) {
                drain = links.isShut() || !usable(server) ? Drain.UNKNOWN : beginDrain(region);
                drainDeadline = System.nanoTime() + DRAIN_TIMEOUT_NANOS;
            }
            draining = drain == Drain.UNDER_WAY;
        } finally {
            gate.unclaim();
        }
        return settled(region.server(), drain) && besideDone;
    }

    @Override
    public final boolean drained(RemoteRegion region) {
        boolean besideDone = beside.drained(region);
        Drain drain;
        int server = region.serverIndex();
        gate.claim();
        try {
            if (links.isShut()) {
                drain = idle(server) ? Drain.DONE : Drain.UNKNOWN;
            } else {
                // The drain may await only the links beside: then there is no deadline of this drain.
                boolean done = !draining || endsDrain(server);
                if (!done && System.nanoTime() - drainDeadline > 0) {
                    fail(region.server());
                }
                drain = !usable(server) ? Drain.UNKNOWN : done ? Drain.DONE : Drain.UNDER_WAY;
            }
        } finally {
            gate.unclaim();
        }
        return settled(region.server(), drain) && besideDone;
    }

    /**
     * Fences the server's end if nothing is known.
     *
     * @return whether no operation is awaited any more
     */
    private boolean settled(RemoteServer server, Drain drain) {
        if (drain == Drain.UNKNOWN) {
            links.fenceFailed(server);
        }
        return drain != Drain.UNDER_WAY;
    }

    /**
     * Shuts these links before it ends those beside: a thread that finds an end failed and these links not shut fails
     * those beside too. With the gate claimed, so that no lose and no drain comes in between.
     */
    @Override
    public final void close() {
        gate.claimed(links::shut);
        Closeables.all(beside, links);
    }

    @Override
    public final CompletableFuture<Void> closed() {
        return CompletableFuture.allOf(beside.closed(), links.closed());
    }
}
