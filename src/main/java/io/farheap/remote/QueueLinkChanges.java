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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;

/**
 * The changes to its {@linkplain ServerLinks links} for which a queue's owner asks. To connect or fence a link is a
 * control call, which takes as long as the server takes to answer: the calls run on another thread, and their results
 * wait as news for the owner's next poll.
 */
final class QueueLinkChanges<E extends ServerAttachment> {

    private static final System.Logger LOG = System.getLogger(QueueLinkChanges.class.getName());

    /**
     * The result of a change.
     *
     * @param number the number of the change among those of its server
     * @param connects whether it was to connect
     */
    private record LinkChange(long tag, int outcome, RemoteServer server, int number, boolean connects) {}

    /**
     * A change that is still to be made.
     *
     * @param rejected runs in its place if the remote memory, and with it this queue, is being closed
     */
    private record AskedChange(Runnable make, Runnable rejected) {}

    /** Receives a tag with the outcome of its control call. */
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
    /** Set after news is added, cleared before news is taken: a poll without news costs one load. */
    private volatile boolean anyNews;

    private long eventsToken;
    /**
     * By server index: how many changes have been asked for. Under the gate: a connection that a change made is used
     * only if no later change is to end it.
     */
    private int[] asked = new int[0];
    /**
     * The changes still to be made, in the order in which they were asked for; one thread at a time makes them. Its
     * monitor guards it and {@code making}.
     */
    private final Queue<AskedChange> changes = new ArrayDeque<>();

    private boolean making;

    /** @param channel raises an event at completions; it is closed with the queue */
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

    /** As {@link ServerLinks#forget}; a connection that is being made for that server will not be used. */
    void forget(RemoteServer server) {
        gate.claimed(() -> overtake(server));
        links.forget(server);
    }

    /** Called by the owner. */
    void disconnect(RemoteServer server, long tag) {
        ask(server, tag, false);
    }

    /** Called by the owner. */
    void reconnect(RemoteServer server, long tag) {
        ask(server, tag, true);
    }

    /**
     * Ends the link to a server, after all changes that were asked for before. With the gate claimed.
     *
     * @return completes when the server's end is destroyed; exceptionally if the server does not answer, or the remote
     *     memory is closed
     */
    CompletableFuture<Void> fenceInTurn(RemoteServer server) {
        CompletableFuture<Void> fenced = new CompletableFuture<>();
        overtake(server);
        add(new AskedChange(
                () -> {
                    try {
                        links.fence(server);
                    } catch (Throwable e) {
                        fenced.completeExceptionally(e);
                    }
                    fenced.complete(null);
                },
                () -> fenced.cancel(false)));
        return fenced;
    }

    private void ask(RemoteServer server, long tag, boolean connects) {
        int number = number(server);
        LinkChange failed = new LinkChange(tag, Outcome.UNREACHABLE, server, number, connects);
        add(new AskedChange(() -> make(failed), () -> tell(failed)));
    }

    /** Prevents the use of a connection that is being made for a server. With the gate claimed. */
    private void overtake(RemoteServer server) {
        number(server);
    }

    /** The number of a server's next change. */
    private int number(RemoteServer server) {
        int index = server.index();
        if (index >= asked.length) {
            asked = Arrays.copyOf(asked, index + 1);
        }
        return ++asked[index];
    }

    private void add(AskedChange change) {
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
                rejectAll();
            }
        }
    }

    private void rejectAll() {
        List<AskedChange> left;
        synchronized (changes) {
            left = List.copyOf(changes);
            changes.clear();
            making = false;
        }
        left.forEach(each -> each.rejected.run());
    }

    private void makeAll() {
        while (true) {
            AskedChange next;
            synchronized (changes) {
                next = changes.poll();
                if (next == null) {
                    making = false;
                    return;
                }
            }
            next.make.run();
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
            // The news says unreachable: the caller decides whether to try again.
        } catch (Throwable e) {
            // For lack of memory or descriptors, for example; the changes behind this one are made all the same.
            LOG.log(System.Logger.Level.WARNING, "no connection to " + server + " for now", e);
        } finally {
            tell(told);
        }
    }

    /**
     * Whether no later change has ended, or is about to end, the connection that this one made. With the gate claimed,
     * or inside it.
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
     * Hands news to the handler. Called by the owner, inside its gate.
     *
     * @return how many tags were returned
     */
    int handNews(LinkChangeHandler handler) {
        // Cleared before the first poll of the queue, so that news added after it sets the flag again.
        anyNews = false;
        int handed = 0;
        try {
            for (LinkChange piece = news.poll(); piece != null; piece = news.poll()) {
                handed++;
                handler.handle(
                        piece.tag(), piece.connects() && !isLatest(piece) ? Outcome.UNREACHABLE : piece.outcome());
            }
        } finally {
            // Needed after an exception of the handler. It is never cleared here, which could hide news added
            // meanwhile.
            if (!news.isEmpty()) {
                anyNews = true;
            }
        }
        return handed;
    }

    /** Makes completions wake the owner from now on. Called by the owner. */
    void listen(Runnable wake) {
        if (eventsToken == 0) {
            eventsToken = events.add(channel, wake);
        }
    }

    /** Ends all connections, after the changes that are under way. */
    void close() {
        links.shut();
        events.remove(eventsToken);
        links.close();
    }

    /** Completes when every end of the links is closed. Call it after {@link #close}. */
    CompletableFuture<Void> closed() {
        return links.closed();
    }
}
