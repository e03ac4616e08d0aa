package io.farheap.remote;

import io.farheap.control.ControlException;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.CompletionEvents;
import io.farheap.remote.server.ServerAttachment;
import io.farheap.remote.server.ServerLinks;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;

/**
 * What a queue's owner asks of its {@linkplain ServerLinks links}. Making and fencing them are control calls, which
 * take as long as a server takes to answer: they run elsewhere, and what came of them waits as news for the owner's
 * next poll.
 */
final class QueueLinkChanges<E extends ServerAttachment> {

    private static final System.Logger LOG = System.getLogger(QueueLinkChanges.class.getName());

    /**
     * What came of a change.
     *
     * @param number which change of that server it was
     * @param connects whether it was to connect
     */
    private record LinkChange(long tag, int outcome, RemoteServer server, int number, boolean connects) {}

    /** Takes tags that come back with the outcome of a control call. */
    interface LinkChangeHandler {
        void handle(long tag, int outcome);
    }

    private final ServerLinks.Owner<E> owner;
    private final ServerLinks<E> links;
    private final OwnerGate gate;
    private final CompletionEvents events;
    private final CompletionChannel channel;
    private final ExecutorService calls;
    private final ConcurrentLinkedQueue<LinkChange> news = new ConcurrentLinkedQueue<>();
    /** Written after a piece of news, read before: the owner's polls pay a load for it. */
    private volatile boolean anyNews;

    private long eventsToken;
    /**
     * By server: how many changes have been asked for. Under the gate: what an earlier change made is used only if no
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
    QueueLinkChanges(
            ServerLinks.Owner<E> owner,
            OwnerGate gate,
            CompletionEvents events,
            CompletionChannel channel,
            ExecutorService calls) {
        this.owner = owner;
        this.links = new ServerLinks<>(owner, gate);
        this.gate = gate;
        this.events = events;
        this.channel = channel;
        this.calls = calls;
    }

    /** As {@link ServerLinks#connect}. */
    void join(RemoteServer server) {
        links.connect(server);
    }

    /** As {@link ServerLinks#forget}; what is being made for that server is not used. */
    void forget(RemoteServer server) {
        gate.claimed(() -> overtake(server));
        links.forget(server);
    }

    /** The owner. */
    void disconnect(RemoteServer server, long tag) {
        ask(server, tag, false);
    }

    /** The owner. */
    void reconnect(RemoteServer server, long tag) {
        ask(server, tag, true);
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
                    try {
                        links.fence(server);
                    } catch (Throwable e) {
                        fenced.completeExceptionally(e);
                    }
                    fenced.complete(null);
                },
                () -> fenced.cancel(false));
        return fenced;
    }

    private void ask(RemoteServer server, long tag, boolean connects) {
        int number = number(server);
        LinkChange failed = new LinkChange(tag, Outcome.UNREACHABLE, server, number, connects);
        add(() -> make(failed), () -> tell(failed));
    }

    /** What is being made for a server is not used. With the gate claimed. */
    private void overtake(RemoteServer server) {
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

    private void make(LinkChange failed) {
        LinkChange told = failed;
        RemoteServer server = failed.server();
        try {
            if (!links.isShut()) {
                links.fence(server);
                if (!failed.connects() || links.connect(server, () -> isLatest(failed))) {
                    told = new LinkChange(failed.tag(), Outcome.DONE, server, failed.number(), failed.connects());
                }
            }
        } catch (ControlException | VerbsException e) {
            // It is told as unreachable: the caller decides whether to try again.
        } catch (Throwable e) {
            // For want of memory or files, say: the changes behind this one are made all the same.
            LOG.log(System.Logger.Level.WARNING, "no connection to " + server + " for now", e);
        } finally {
            tell(told);
        }
    }

    /**
     * Whether no later change is about to end what this one made, or has ended it. With the gate claimed, or inside.
     */
    private boolean isLatest(LinkChange change) {
        return change.number() == asked[change.server().index()];
    }

    private void tell(LinkChange piece) {
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
    int handNews(LinkChangeHandler handler) {
        // Before the look, so that what is added behind it is not missed.
        anyNews = false;
        int handed = 0;
        try {
            for (LinkChange piece = news.poll(); piece != null; piece = news.poll()) {
                handed++;
                handler.handle(
                        piece.tag(), piece.connects() && !isLatest(piece) ? Outcome.UNREACHABLE : piece.outcome());
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
        links.shut();
        events.remove(eventsToken);
        links.close();
    }

    /** Completes when all is closed that there was. After {@link #close}. */
    CompletableFuture<Void> closed() {
        return links.closed();
    }
}
