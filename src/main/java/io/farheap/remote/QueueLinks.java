package io.farheap.remote;

import io.farheap.connection.Connection;
import io.farheap.control.ControlException;
import io.farheap.lifetime.Closing;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.VerbsException;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A queue's connections together with their servers' ends. Making and fencing them are control calls, which take as long as a server takes to
 * answer: the queue's owner asks for them, they run elsewhere, and what came of them waits as news for the owner's next poll.
 *
 * <p>{@code changing} is held by whoever talks to servers, never by the owner while it posts or polls.
 */
final class QueueLinks {

    /** What came of a control call. @param connection to use from now on, or null */
    private record News(long tag, int outcome, int server, Connection connection) {
    }

    private final RemoteMemory memory;
    private final CompletionQueue completions;
    private final CompletionChannel channel;
    private final QueueOptions options;
    private final ExecutorService calls;
    private final ConcurrentLinkedQueue<News> news = new ConcurrentLinkedQueue<>();
    /** Written after a piece of news, read before: the owner's polls pay a load for it. */
    private volatile boolean anyNews;
    private final ReentrantLock changing = new ReentrantLock();
    /** By the server's index. Guarded by {@code changing}. */
    private final Map<Integer, ServerConnection> connections = new HashMap<>();
    private int nextNumber;
    private boolean closed;
    private RemoteQueue queue;
    private long eventsToken;

    /** @param channel where the completion queue raises events; it is closed with the links' queue */
    QueueLinks(RemoteMemory memory, CompletionQueue completions, CompletionChannel channel, QueueOptions options, ExecutorService calls) {
        this.memory = memory;
        this.completions = completions;
        this.channel = channel;
        this.options = options;
        this.calls = calls;
    }

    void queue(RemoteQueue owned) {
        queue = owned;
    }

    /** Before the queue is used. */
    void connectFirst(RemoteServer server) {
        changing.lock();
        try {
            queue.add(server.index(), connect(server));
        } finally {
            changing.unlock();
        }
    }

    private Connection connect(RemoteServer server) {
        ServerConnection made = server.connect(memory.domain(), completions, nextNumber++, options.depth(), options.inlineBytes(), 1);
        connections.put(server.index(), made);
        return made.connection();
    }

    void disconnect(RemoteServer server, long tag) {
        run(server, tag, () -> {
            fence(server);
            return null;
        });
    }

    void reconnect(RemoteServer server, long tag) {
        run(server, tag, () -> {
            fence(server);
            return connect(server);
        });
    }

    /** Ends both ends of what there is to a server. */
    private void fence(RemoteServer server) {
        ServerConnection earlier = connections.get(server.index());
        if (earlier != null) {
            earlier.connection().close();
            earlier.fence();
            connections.remove(server.index());
        }
    }

    private interface Change {
        Connection make();
    }

    private void run(RemoteServer server, long tag, Change change) {
        try {
            calls.execute(() -> change(server, tag, change));
        } catch (RejectedExecutionException e) {
            tell(new News(tag, Outcome.UNREACHABLE, server.index(), null));
        }
    }

    private void change(RemoteServer server, long tag, Change change) {
        News told = new News(tag, Outcome.UNREACHABLE, server.index(), null);
        changing.lock();
        try {
            if (!closed) {
                told = new News(tag, Outcome.DONE, server.index(), change.make());
            }
        } catch (ControlException | VerbsException e) {
            // It is told as unreachable: the caller decides whether to try again.
        } finally {
            changing.unlock();
            tell(told);
        }
    }

    private void tell(News piece) {
        news.add(piece);
        anyNews = true;
        queue.wake();
    }

    boolean hasNews() {
        return anyNews;
    }

    /** The owner, inside its gate. @return how many tags came back */
    int handNews(CompletionHandler handler) {
        // Before the look, so that what is added behind it is not missed.
        anyNews = false;
        int handed = 0;
        try {
            for (News piece = news.poll(); piece != null; piece = news.poll()) {
                if (piece.connection() != null) {
                    queue.add(piece.server(), piece.connection());
                }
                handed++;
                handler.completed(piece.tag(), piece.outcome());
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
            eventsToken = memory.events().add(channel, wake);
        }
    }

    /** Ends all connections, after what is being changed. */
    void close() {
        changing.lock();
        try {
            closed = true;
            memory.events().remove(eventsToken);
            Closing.all(connections.values());
            connections.clear();
        } finally {
            changing.unlock();
        }
    }
}
