package io.farheap.remote;

import io.farheap.control.ControlException;
import io.farheap.lifetime.Closing;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.agrona.collections.Int2ObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What a queue has to each server, together with the servers' ends. Making and fencing them are control calls, which
 * take as long as a server takes to answer: the queue's owner asks for them, they run elsewhere, and what came of them
 * waits as news for the owner's next poll.
 *
 * <p>{@code changing} is held by whoever talks to servers, never by the owner while it posts or polls.
 */
final class QueueLinks<E extends ServerEnd> {

    private static final System.Logger LOG = System.getLogger(QueueLinks.class.getName());

    /**
     * What came of a change.
     *
     * @param number which change of that server it was
     * @param made to use from now on, or null
     */
    private record News<E>(
            long tag,
            int outcome,
            RemoteServer server,
            int number,
            @Nullable E made) {}

    /** What the links belong to. */
    interface Owner<E> {

        /** Makes one. Not the owner's thread; takes as long as the server takes to answer. */
        E connect(RemoteServer server);

        /** The process's end of one has been destroyed. Not the owner's thread. */
        default void ended(E end) {}

        /** Uses it from now on. With the gate claimed, or inside it. */
        void add(RemoteServer server, E made);

        /** Makes the owner's thread poll, if it sleeps. */
        void wake();
    }

    /** Takes tags that come back with the outcome of a control call. */
    interface NewsHandler {
        void handle(long tag, int outcome);
    }

    private final Owner<E> owner;
    private final CompletionEvents events;
    private final CompletionChannel channel;
    private final ExecutorService calls;
    private final ConcurrentLinkedQueue<News<E>> news = new ConcurrentLinkedQueue<>();
    /** Written after a piece of news, read before: the owner's polls pay a load for it. */
    private volatile boolean anyNews;

    private final ReentrantLock changing = new ReentrantLock();
    /** By the server's index. Guarded by {@code changing}. */
    private final Int2ObjectHashMap<E> ends = new Int2ObjectHashMap<>();

    /** Set before {@code changing} is taken: what waits for that is not made any more. */
    private volatile boolean closed;
    /** Of ends that were closed and are not gone yet. Guarded by {@code changing}. */
    private final List<CompletableFuture<Void>> late = new ArrayList<>();

    private long eventsToken;
    /**
     * By server: how many changes have been asked for. The owner's: what an earlier change made is used only if no
     * later one is to end it.
     */
    private int[] asked = new int[0];
    /**
     * Changes that are to be made, in the order in which they were asked for, by one thread at a time. Guards itself
     * and {@code making}.
     */
    private final Queue<Runnable> changes = new ArrayDeque<>();

    private boolean making;

    /** @param channel where completions raise events; it is closed with the links' queue */
    QueueLinks(Owner<E> owner, CompletionEvents events, CompletionChannel channel, ExecutorService calls) {
        this.owner = owner;
        this.events = events;
        this.channel = channel;
        this.calls = calls;
    }

    /**
     * Connects to a server unless there is a connection already, while the owner goes on. Another thread than the
     * owner; takes as long as the server takes to answer.
     *
     * @param claim keeps the owner out until {@code unclaim}
     */
    void join(RemoteServer server, Runnable claim, Runnable unclaim) {
        changing.lock();
        try {
            if (closed || ends.containsKey(server.index())) {
                return;
            }
            E made = connect(server);
            claim.run();
            try {
                owner.add(server, made);
            } finally {
                unclaim.run();
            }
        } finally {
            changing.unlock();
        }
    }

    /**
     * Destroys what there is to a server; its end goes with the lease. Another thread than the owner.
     *
     * @param detach ends its use and {@linkplain #overtake overtakes}: an end that is closed here is not used later
     */
    void forget(RemoteServer server, Runnable detach) {
        changing.lock();
        try {
            detach.run();
            E earlier = ends.remove(server.index());
            if (earlier != null) {
                close(earlier);
                owner.ended(earlier);
            }
        } finally {
            changing.unlock();
        }
    }

    private E connect(RemoteServer server) {
        E made = owner.connect(server);
        ends.put(server.index(), made);
        return made;
    }

    /** The owner. */
    void disconnect(RemoteServer server, long tag) {
        ask(server, tag, () -> {
            fence(server);
            return null;
        });
    }

    /** The owner. */
    void reconnect(RemoteServer server, long tag) {
        ask(server, tag, () -> {
            fence(server);
            return connect(server);
        });
    }

    /** Ends both ends of what there is to a server. With a lost lease, the server's end is gone or goes with it. */
    private void fence(RemoteServer server) {
        E earlier = ends.get(server.index());
        if (earlier == null) {
            return;
        }
        if (server.lost() == null) {
            earlier.end();
        } else {
            close(earlier);
        }
        ends.remove(server.index());
        owner.ended(earlier);
    }

    private void close(E end) {
        end.close();
        late.removeIf(CompletableFuture::isDone);
        if (!end.closed().isDone()) {
            late.add(end.closed());
        }
    }

    /**
     * Ends what there is to a server, after all that has been asked for before. With the gate claimed.
     *
     * @return completes when the server's end is destroyed; exceptionally where it does not answer
     */
    CompletableFuture<Void> fenceInTurn(RemoteServer server) {
        CompletableFuture<Void> fenced = new CompletableFuture<>();
        overtake(server);
        add(
                () -> {
                    changing.lock();
                    try {
                        fence(server);
                    } catch (Throwable e) {
                        fenced.completeExceptionally(e);
                    } finally {
                        changing.unlock();
                    }
                    fenced.complete(null);
                },
                () -> fenced.cancel(false));
        return fenced;
    }

    private void ask(RemoteServer server, long tag, Supplier<@Nullable E> change) {
        int number = number(server);
        add(
                () -> make(server, number, tag, change),
                () -> tell(new News<>(tag, Outcome.UNREACHABLE, server, number, null)));
    }

    /** What has been made for a server, and waits as news, is not used any more. With the gate claimed. */
    void overtake(RemoteServer server) {
        number(server);
    }

    /** Of the next change of a server. */
    private int number(RemoteServer server) {
        int index = server.index();
        if (index >= asked.length) {
            asked = Arrays.copyOf(asked, index + 1);
        }
        return ++asked[index];
    }

    /** @param rejected is run where the memory is being closed, and this with it */
    private void add(Runnable change, Runnable rejected) {
        boolean begin;
        synchronized (changes) {
            changes.add(change);
            begin = !making;
            making = true;
        }
        if (begin) {
            try {
                calls.execute(this::makeAll);
            } catch (RejectedExecutionException e) {
                rejected.run();
            }
        }
    }

    private void makeAll() {
        while (true) {
            Runnable next;
            synchronized (changes) {
                next = changes.poll();
                if (next == null) {
                    making = false;
                    return;
                }
            }
            next.run();
        }
    }

    private void make(RemoteServer server, int number, long tag, Supplier<@Nullable E> change) {
        News<E> told = new News<>(tag, Outcome.UNREACHABLE, server, number, null);
        changing.lock();
        try {
            if (!closed) {
                told = new News<>(tag, Outcome.DONE, server, number, change.get());
            }
        } catch (ControlException | VerbsException e) {
            // It is told as unreachable: the caller decides whether to try again.
        } catch (Throwable e) {
            // For want of memory or files, say: the changes behind this one are made all the same.
            LOG.log(System.Logger.Level.WARNING, "no connection to " + server + " for now", e);
        } finally {
            changing.unlock();
            tell(told);
        }
    }

    private void tell(News<E> piece) {
        news.add(piece);
        anyNews = true;
        owner.wake();
    }

    boolean hasNews() {
        return anyNews;
    }

    /**
     * The owner, inside its gate.
     *
     * @return how many tags came back
     */
    int handNews(NewsHandler handler) {
        // Before the look, so that what is added behind it is not missed.
        anyNews = false;
        int handed = 0;
        try {
            for (News<E> piece = news.poll(); piece != null; piece = news.poll()) {
                // What a later change is about to end, or has ended, is not used.
                boolean overtaken = piece.made() != null
                        && piece.number() != asked[piece.server().index()];
                if (piece.made() != null && !overtaken) {
                    owner.add(piece.server(), piece.made());
                }
                handed++;
                handler.handle(piece.tag(), overtaken ? Outcome.UNREACHABLE : piece.outcome());
            }
        } finally {
            // After an exception of the handler. Never to false here: that could hide what has been added since.
            if (!news.isEmpty()) {
                anyNews = true;
            }
        }
        return handed;
    }

    /** From now on completions wake the owner. The owner. */
    void listen(Runnable wake) {
        if (eventsToken == 0) {
            eventsToken = events.add(channel, wake);
        }
    }

    /** Ends all connections, after what is being changed. */
    void close() {
        closed = true;
        changing.lock();
        try {
            events.remove(eventsToken);
            Closing.all(ends.values());
        } finally {
            ends.values().forEach(end -> late.add(end.closed()));
            ends.clear();
            changing.unlock();
        }
    }

    /** Completes when all is closed that there was. After {@link #close}. */
    CompletableFuture<Void> closed() {
        changing.lock();
        try {
            return CompletableFuture.allOf(late.toArray(CompletableFuture[]::new));
        } finally {
            changing.unlock();
        }
    }
}
