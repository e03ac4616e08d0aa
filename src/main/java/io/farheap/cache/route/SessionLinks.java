package io.farheap.cache.route;

import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.ServerAttachment;
import io.farheap.remote.server.ServerLinks;
import io.farheap.thread.OwnerGate;
import java.util.concurrent.CompletableFuture;

/**
 * What a session has to each server, of one kind: queue pairs, or message rings. Made, replaced, drained and ended by
 * migrations and by the cache, never by the session's thread: any thread but that may call.
 *
 * <p>The session's gate is claimed for the moments in which the session must not use them; what the session uses is
 * written with it claimed. So is a heavy fence after which the session's thread is out of the gate.
 *
 * @param <E> an end together with the server's
 */
public abstract class SessionLinks<E extends ServerAttachment> implements MigrationLinks, ServerLinks.Owner<E> {

    /** What is known of what was posted to a server. */
    public enum Drain {
        /** All of it has ended. */
        DONE,
        /** It is awaited. */
        UNDER_WAY,
        /** Nothing, until the server's end is fenced. */
        UNKNOWN
    }

    private final MigrationLinks beside;
    public final OwnerGate gate;
    private final ServerLinks<E> links;
    /**
     * Whether the latest drain awaits something here, and until when, as {@code nanoTime}. With the gate claimed; one
     * migration at a time drains.
     */
    private boolean draining;

    private long drainDeadline;

    /**
     * @param beside the other links of the session, of which it is the owner and which come first; or
     *     {@link MigrationLinks#NONE}
     */
    public SessionLinks(MigrationLinks beside, OwnerGate gate) {
        this.beside = beside;
        this.gate = gate;
        this.links = new ServerLinks<>(this, gate);
    }

    /** Whether the session has an end to a server, which has not failed. With the gate claimed. */
    public abstract boolean usable(int server);

    /**
     * Whether nothing is in flight to a server, and that is known. With the gate claimed, or the session's thread known
     * to be out.
     */
    public abstract boolean idle(int server);

    /** Begins to await what is in flight on an end that is usable and not idle. With the gate claimed. */
    public abstract Drain beginDrain(RemoteRegion region);

    /**
     * Whether what the latest drain awaits has ended. With the gate claimed; the session may have no end to that server
     * any more.
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
        links.forget(server);
    }

    /** An end that has failed is fenced before anything can go another way. */
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
                // What is beside may be awaited, and not this: then there is no mark and no deadline of this drain.
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

    /** @return whether nothing is under way any more, where nothing is known since it is fenced */
    private boolean settled(RemoteServer server, Drain drain) {
        if (drain == Drain.UNKNOWN) {
            links.fenceFailed(server);
        }
        return drain != Drain.UNDER_WAY;
    }

    /**
     * Shut before those beside are ended: a thread that finds an end failed, and this not shut, fails what is beside it
     * too. With the gate claimed, so that nothing is lost or drained in between.
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
