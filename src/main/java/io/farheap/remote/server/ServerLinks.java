package io.farheap.remote.server;

import io.farheap.control.ControlException;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.thread.OwnerGate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The links of one owner, a queue or a part of a session, to servers: to each server an end, which is a connection or a
 * pair of message rings. The states of an end are
 *
 * <ul>
 *   <li><b>connected</b>: the owner uses the end;
 *   <li><b>left</b>, since it has failed, is to be replaced, or its server is no longer used: its operations in flight
 *       are lost;
 *   <li><b>fenced</b>: its server's end is destroyed, so nothing of it takes effect any more; or <b>forgotten</b>, if
 *       the server does not answer: the server's end then ends with the lease;
 *   <li><b>closed</b>, once the owner has taken what was answered; <b>late</b> if a stopped server may be in the middle
 *       of writing to it.
 * </ul>
 *
 * <p>A thread that makes or ends an end waits for the server with that link's lock held, and never with the owner's
 * gate, which it claims only for the moments in which the owner must not use the end. So neither the owner nor the
 * links to other servers wait for a silent server.
 *
 * <p><b>Threads.</b> Any thread may call, except an owner inside its gate, or a thread that claims it.
 *
 * @param <E> an end together with the server's end
 */
public final class ServerLinks<E extends ServerAttachment> implements AutoCloseable {

    /** The user of the ends. */
    public interface Owner<E extends ServerAttachment> {

        /**
         * Makes an end, without the gate; takes as long as the server takes to answer.
         *
         * @throws ControlException if the server refuses or does not answer
         */
        E open(RemoteServer server);

        /** Begins to use an end; if this throws, the end is left at once, and closed. With the gate claimed. */
        void use(RemoteServer server, E made);

        /** Ends the use of an end, if the owner uses it; its operations in flight are lost. With the gate claimed. */
        void leave(RemoteServer server, E end);

        /** Fails the end to a server. With the gate claimed. */
        void fail(RemoteServer server);

        /** Whether the owner has stopped reading the memory of an end that was left. With the gate claimed. */
        default boolean hasTaken(E end) {
            return true;
        }

        /** Called when this process's end has been destroyed, or will be late. Without the gate. */
        default void ended(E end) {}

        /** Makes the owner's thread poll, if it sleeps: operations of it may be lost. */
        default void wake() {}
    }

    private static final class Link<E> {

        final ReentrantLock changing = new ReentrantLock();
        /** Kept when all links are closed, since it may still have to be fenced. Guarded by {@code changing}. */
        @Nullable
        E end;
        /** Guarded by {@code changing}. */
        boolean closed;
        /** A server with this index that was left for good; null if none was. Guarded by {@code changing}. */
        @Nullable
        RemoteServer left;
    }

    private final Owner<E> owner;
    private final OwnerGate gate;
    /** By the server's index. */
    private final Map<Integer, Link<E>> links = new ConcurrentHashMap<>();
    /** Ends that are fenced or forgotten and not closed: the owner has not taken what was answered. */
    private final Set<E> left = ConcurrentHashMap.newKeySet();
    /** Futures of ends that are closed late. */
    private final Set<CompletableFuture<Void>> late = ConcurrentHashMap.newKeySet();

    private volatile boolean shut;

    /** @param gate the owner's gate, a type that is not exported to other modules */
    @SuppressWarnings("exports")
    public ServerLinks(Owner<E> owner, OwnerGate gate) {
        this.owner = owner;
        this.gate = gate;
    }

    /** As {@link #connect(RemoteServer, BooleanSupplier)}, for a connection that is wanted in any case. */
    public boolean connect(RemoteServer server) {
        return connect(server, () -> true);
    }

    /**
     * Connects to a server unless there is an end already, while the owner works.
     *
     * @param wanted asked with the gate claimed, after the server has answered
     * @return false if the connection is no longer wanted, or the links are shut
     * @throws ControlException if the server refuses or does not answer
     */
    public boolean connect(RemoteServer server, BooleanSupplier wanted) {
        Link<E> link = lock(server);
        try {
            return connect(link, server, wanted);
        } finally {
            link.changing.unlock();
        }
    }

    private boolean connect(Link<E> link, RemoteServer server, BooleanSupplier wanted) {
        if (shut || link.left == server) {
            return false;
        }
        if (link.end != null) {
            return true;
        }
        E made = owner.open(server);
        boolean used;
        try {
            used = gate.asked(() -> !shut && wanted.getAsBoolean() && use(link, server, made));
        } catch (Throwable e) {
            // No other thread has a reference to it.
            Closeables.after(e, () -> close(made));
            throw e;
        }
        if (!used) {
            close(made);
        }
        return used;
    }

    /** Begins to use an end. With the gate claimed. If this throws, the end is not used. */
    private boolean use(Link<E> link, RemoteServer server, E made) {
        link.end = made;
        try {
            owner.use(server, made);
            // Either this thread sees the loss of the lease, or the thread that fails a lost server's ends sees this
            // end.
            if (server.lost() != null) {
                owner.fail(server);
            }
        } catch (Throwable e) {
            link.end = null;
            Closeables.after(e, () -> owner.leave(server, made));
            throw e;
        }
        return true;
    }

    /** Leaves a server and destroys both ends; if the server does not answer, its end is forgotten. */
    public void forget(RemoteServer server) {
        Link<E> link = lock(server);
        try {
            leave(link, server);
        } finally {
            link.changing.unlock();
        }
    }

    /** As {@link #forget}, and for good: later calls do not connect to this server. */
    public void abandon(RemoteServer server) {
        Link<E> link = lock(server);
        try {
            link.left = server;
            leave(link, server);
        } finally {
            link.changing.unlock();
        }
    }

    private void leave(Link<E> link, RemoteServer server) {
        E end = link.end;
        if (shut || end == null) {
            return;
        }
        boolean taken;
        gate.claim();
        try {
            owner.leave(server, end);
            link.end = null;
            taken = owner.hasTaken(end);
        } finally {
            gate.unclaim();
        }
        owner.wake();
        if (taken) {
            close(end);
        } else {
            left.add(end);
            end.fenceOrForget();
        }
        closeTaken();
    }

    private void closeTaken() {
        if (!left.isEmpty()) {
            List<E> taken = new ArrayList<>();
            gate.claimed(() -> left.stream().filter(owner::hasTaken).forEach(taken::add));
            closeLeft(taken);
        }
    }

    private void closeLeft(List<E> ends) {
        Closeables.all(ends.stream()
                .filter(left::remove)
                .<AutoCloseable>map(end -> () -> close(end))
                .toList());
    }

    /**
     * Replaces an end that has failed, once it is fenced, or connects if there is none, unless the server was
     * {@linkplain #abandon abandoned}.
     *
     * @param between runs after a failed end is left and before another is made; if the end is usable, it runs alone
     * @throws ControlException if the server refuses, does not answer, or has recently not answered another call; a
     *     failed end that is not fenced stays, since its operations in flight could take effect after those of another
     *     end
     */
    public void ensure(RemoteServer server, Runnable between) {
        Link<E> link = lock(server);
        try {
            boolean usable = gate.asked(() -> link.end != null && !link.end.failed());
            if (!usable) {
                E failed = link.end;
                if (failed != null && !shut && !failed.isOver()) {
                    failed.fence();
                }
                leave(link, server);
            }
            between.run();
            if (!usable) {
                connect(link, server, () -> true);
            }
        } finally {
            link.changing.unlock();
        }
    }

    /**
     * Leaves a server and destroys both ends: when it returns, nothing that was sent takes effect any more. If the
     * lease is lost, the server's end is gone or ends with it.
     *
     * @throws ControlException if the server does not answer; the end stays, to be fenced again
     */
    public void fence(RemoteServer server) {
        Link<E> link = lock(server);
        try {
            E end = link.end;
            if (end == null) {
                return;
            }
            if (shut) {
                end.fence();
                return;
            }
            // A thread may have connected it since the owner asked for this, so it may be in use.
            gate.claimed(() -> owner.leave(server, end));
            if (server.lost() == null) {
                end.end();
                owner.ended(end);
            } else {
                close(end);
            }
            link.end = null;
        } finally {
            link.changing.unlock();
        }
    }

    /**
     * Destroys the server's end if this end has failed, or is closed; a thread that replaces the end does so itself. A
     * failed end sends nothing any more, so no claim is needed.
     *
     * @throws ControlException if the server does not answer
     */
    public void fenceFailed(RemoteServer server) {
        Link<E> link = lock(server);
        try {
            E end = link.end;
            if (end != null && (shut || end.failed())) {
                end.fence();
            }
        } finally {
            link.changing.unlock();
        }
    }

    private Link<E> lock(RemoteServer server) {
        Link<E> link = links.computeIfAbsent(server.index(), ignored -> new Link<>());
        link.changing.lock();
        return link;
    }

    private void close(E end) {
        end.close();
        CompletableFuture<Void> closed = end.closed();
        if (!closed.isDone()) {
            late.add(closed);
            closed.whenComplete((nothing, failure) -> late.remove(closed));
        }
        owner.ended(end);
    }

    /** Ends connecting and leaving. Any thread may call it. */
    public void shut() {
        shut = true;
    }

    public boolean isShut() {
        return shut;
    }

    /** Ends all links, after the changes under way. The ends stay listed, so that they can be fenced. Idempotent. */
    @Override
    public void close() {
        shut();
        List<AutoCloseable> all = new ArrayList<>();
        links.values().forEach(link -> all.add(() -> close(link)));
        all.add(() -> closeLeft(List.copyOf(left)));
        Closeables.all(all);
    }

    private void close(Link<E> link) {
        link.changing.lock();
        try {
            E end = link.end;
            if (end != null && !link.closed) {
                link.closed = true;
                close(end);
            }
        } finally {
            link.changing.unlock();
        }
    }

    /** Completes when all ends are closed, including those to which a stopped server may still write. */
    public CompletableFuture<Void> closed() {
        return CompletableFuture.allOf(late.toArray(CompletableFuture[]::new));
    }
}
