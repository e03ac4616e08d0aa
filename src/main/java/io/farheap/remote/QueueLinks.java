package io.farheap.remote;

import io.farheap.control.ControlException;
import io.farheap.lifetime.Closing;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.VerbsException;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * What a queue has to each server, together with the servers' ends. Making and fencing them are control calls, which take as long as a server takes to
 * answer: the queue's owner asks for them, they run elsewhere, and what came of them waits as news for the owner's next poll.
 *
 * <p>{@code changing} is held by whoever talks to servers, never by the owner while it posts or polls.
 */
final class QueueLinks<E extends ServerEnd> {

    /** What came of a control call. @param made to use from now on, or null */
    private record News<E>(long tag, int outcome, E made) {
    }

    /** What the links belong to. */
    interface Owner<E> {

        /** Makes one. Not the owner's thread; takes as long as the server takes to answer. */
        E connect(RemoteServer server);

        /** Uses it from now on. With the gate claimed, or inside it. */
        void add(E made);

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
    private final Map<Integer, E> ends = new HashMap<>();
    private boolean closed;
    private long eventsToken;

    /** @param channel where completions raise events; it is closed with the links' queue */
    QueueLinks(Owner<E> owner, CompletionEvents events, CompletionChannel channel, ExecutorService calls) {
        this.owner = owner;
        this.events = events;
        this.channel = channel;
        this.calls = calls;
    }

    /** Before the queue is used. */
    void connectFirst(RemoteServer server) {
        changing.lock();
        try {
            owner.add(connect(server));
        } finally {
            changing.unlock();
        }
    }

    private E connect(RemoteServer server) {
        E made = owner.connect(server);
        ends.put(server.index(), made);
        return made;
    }

    void disconnect(RemoteServer server, long tag) {
        run(tag, () -> {
            fence(server);
            return null;
        });
    }

    void reconnect(RemoteServer server, long tag) {
        run(tag, () -> {
            fence(server);
            return connect(server);
        });
    }

    /** Ends both ends of what there is to a server. */
    private void fence(RemoteServer server) {
        E earlier = ends.get(server.index());
        if (earlier != null) {
            earlier.end();
            ends.remove(server.index());
        }
    }

    private void run(long tag, Supplier<E> change) {
        try {
            calls.execute(() -> change(tag, change));
        } catch (RejectedExecutionException e) {
            tell(new News<>(tag, Outcome.UNREACHABLE, null));
        }
    }

    private void change(long tag, Supplier<E> change) {
        News<E> told = new News<>(tag, Outcome.UNREACHABLE, null);
        changing.lock();
        try {
            if (!closed) {
                told = new News<>(tag, Outcome.DONE, change.get());
            }
        } catch (ControlException | VerbsException e) {
            // It is told as unreachable: the caller decides whether to try again.
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

    /** The owner, inside its gate. @return how many tags came back */
    int handNews(NewsHandler handler) {
        // Before the look, so that what is added behind it is not missed.
        anyNews = false;
        int handed = 0;
        try {
            for (News<E> piece = news.poll(); piece != null; piece = news.poll()) {
                if (piece.made() != null) {
                    owner.add(piece.made());
                }
                handed++;
                handler.handle(piece.tag(), piece.outcome());
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
        changing.lock();
        try {
            closed = true;
            events.remove(eventsToken);
            Closing.all(ends.values());
            ends.clear();
        } finally {
            changing.unlock();
        }
    }
}
