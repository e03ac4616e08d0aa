package io.farheap.cache;

import io.farheap.lifetime.Closing;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.remote.ServerEnd;
import io.farheap.thread.OwnerGate;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The life of what a session has to each server, of one kind: queue pairs, or message rings. Made, replaced, drained
 * and ended by migrations and by the cache, never by the session's thread: any thread but that may call.
 *
 * <p>The {@code changing} lock excludes those who make and end ends, which takes as long as servers take to answer. The
 * session's gate is claimed beside it for the moments in which the session must not use them; what the session uses,
 * and {@code closed}, are written with both, so either is enough to read them. So is a heavy fence after which the
 * session's thread is out of the gate.
 *
 * @param <E> an end together with the server's
 */
abstract class ServerLinks<E extends ServerEnd> implements Links {

    /** What is known of what was posted to a server. */
    enum Drain {
        /** All of it has ended. */
        DONE,
        /** It is awaited. */
        UNDER_WAY,
        /** Nothing, until the server's end is fenced. */
        UNKNOWN
    }

    private final Links beside;
    final OwnerGate gate;
    final ReentrantLock changing = new ReentrantLock();
    /** Guarded by {@code changing}. */
    private final List<E> ends = new ArrayList<>();
    /**
     * Whether the latest drain awaits something here, and until when, as {@code nanoTime}. With the gate claimed; one
     * migration at a time drains.
     */
    private boolean draining;

    private long drainDeadline;
    private boolean closed;

    /**
     * @param beside the other links of the session, of which it is the owner and which come first; or
     *     {@link Links#NONE}
     */
    ServerLinks(Links beside, OwnerGate gate) {
        this.beside = beside;
        this.gate = gate;
    }

    /** Makes an end, without the gate. */
    abstract E open(RemoteServer server);

    /** The session uses an end from now on. With the gate claimed. */
    abstract void use(int server, E end);

    /** The session uses an end no more; what is in flight on it is failed. With the gate claimed. */
    abstract void remove(int server, E end);

    /** Frees an end that was {@linkplain #remove removed}, or what can be freed of it. */
    abstract void finish(E end);

    /** Whether the session has an end to a server, which has not failed. With the gate claimed. */
    abstract boolean usable(int server);

    /**
     * Whether nothing is in flight to a server, and that is known. With the gate claimed, or the session's thread known
     * to be out.
     */
    abstract boolean idle(int server);

    /** Fails what there is to a server. With the gate claimed. */
    abstract void fail(int server);

    abstract boolean failed(E end);

    /** Begins to await what is in flight on an end that is usable and not idle. With the gate claimed. */
    abstract Drain beginDrain(RemoteRegion region);

    /**
     * Whether what the latest drain awaits has ended. With the gate claimed; the session may have no end to that server
     * any more.
     */
    abstract boolean endsDrain(int server);

    /** Ends that were finished and are not closed. Guarded by {@code changing}. */
    List<E> finished() {
        return List.of();
    }

    @Override
    public final void connect(RemoteServer server) {
        beside.connect(server);
        connectEnd(server);
    }

    private void connectEnd(RemoteServer server) {
        changing.lock();
        try {
            if (closed) {
                return;
            }
            E end = open(server);
            gate.claim();
            try {
                ends.add(end);
                use(server.index(), end);
            } finally {
                gate.unclaim();
            }
            // Either this sees the loss, or whoever fails what is lost sees the end.
            if (server.lost() != null) {
                lose(server);
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public final void disconnect(RemoteServer server) {
        beside.disconnect(server);
        disconnectEnd(server);
    }

    private void disconnectEnd(RemoteServer server) {
        changing.lock();
        try {
            E end = find(server);
            if (closed || end == null) {
                return;
            }
            gate.claim();
            try {
                remove(server.index(), end);
                ends.remove(end);
            } finally {
                gate.unclaim();
            }
            finish(end);
        } finally {
            changing.unlock();
        }
    }

    /** An end that has failed is fenced before anything can go another way. */
    @Override
    public final void ensure(RemoteServer server) {
        changing.lock();
        try {
            boolean usable;
            gate.claim();
            try {
                usable = usable(server.index());
            } finally {
                gate.unclaim();
            }
            if (!usable) {
                disconnectEnd(server);
            }
            beside.ensure(server);
            if (!usable) {
                connectEnd(server);
            }
        } finally {
            changing.unlock();
        }
    }

    @Override
    public final void lose(RemoteServer server) {
        beside.lose(server);
        gate.claim();
        try {
            if (!closed) {
                fail(server.index());
            }
        } finally {
            gate.unclaim();
        }
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
                drain = closed || !usable(server) ? Drain.UNKNOWN : beginDrain(region);
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
            if (closed) {
                drain = idle(server) ? Drain.DONE : Drain.UNKNOWN;
            } else {
                // What is beside may be awaited, and not this: then there is no mark and no deadline of this drain.
                boolean done = !draining || endsDrain(server);
                if (!done && System.nanoTime() - drainDeadline > 0) {
                    fail(server);
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
            fence(server);
        }
        return drain != Drain.UNDER_WAY;
    }

    /**
     * Returns when nothing of what is unknown can take effect any more. Where another thread replaces the end, that
     * does it. One that has failed posts nothing any more, so the fence needs no claim.
     */
    private void fence(RemoteServer server) {
        changing.lock();
        try {
            E end = find(server);
            if (end != null && (closed || failed(end))) {
                end.fence();
            }
        } finally {
            changing.unlock();
        }
    }

    /**
     * Closed to others before those beside are ended: who finds an end failed, and this not closed, fails what is
     * beside it too.
     */
    @Override
    public final void close() {
        changing.lock();
        try {
            gate.claim();
            boolean first = !closed;
            closed = true;
            gate.unclaim();
            Closing.all(beside, first ? () -> closeAll(ends) : null, first ? () -> closeAll(finished()) : null);
        } finally {
            changing.unlock();
        }
    }

    final void closeAll(List<E> ended) {
        Closing.all(ended.stream().<AutoCloseable>map(end -> () -> close(end)).toList());
    }

    void close(E end) {
        end.close();
    }

    private @Nullable E find(RemoteServer server) {
        for (E end : ends) {
            if (end.ends() == server.ends()) {
                return end;
            }
        }
        return null;
    }
}
