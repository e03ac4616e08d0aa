package io.farheap.cache.calls;

import io.farheap.procedure.format.CallFormat;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.contract.ReplyHandler;
import io.farheap.remote.device.CompletionEvents;
import io.farheap.remote.server.LeasedServer;
import io.farheap.remote.server.ServerLinks;
import io.farheap.remote.server.ServerRing;
import io.farheap.rpc.RingShape;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A session's connections for calls to all servers. Inside its gate, or with it claimed, except for methods that say
 * otherwise.
 */
public final class CallLinks implements ServerLinks.Owner<ServerRing>, AutoCloseable {

    /** 4 batches of 16 calls in flight to a server. */
    private static final RingShape SHAPE = new RingShape(4, 16, CallFormat.RECORD_BYTES, true);

    private static final int INLINE_BYTES = 172;
    /** The longest sleep if an event is not certain, or a call waits for room. */
    private static final long UNCERTAIN_NANOS = 50_000;
    /**
     * The longest sleep otherwise. A server that is gone, or whose thread has ended, raises no event: polls have to
     * find out.
     */
    private static final long PATIENCE_NANOS = 50_000_000;

    private final Context context;
    private final int threads;
    private final @Nullable CompletionEvents events;
    private final Consumer<CompletableFuture<Void>> closesLater;
    private final Runnable wake;
    private final CompletionChannel channel;
    private final OwnerGate gate;
    private final ServerLinks<ServerRing> ends;
    private CallLink[] links = {};
    private long eventsToken;

    /**
     * @param threads the number of its threads over which a server spreads the calls of a cache
     * @param closesLater receives the futures of resources that are closed later
     * @param gate the session's
     * @param wake makes the session's thread poll, if it sleeps
     */
    public CallLinks(
            Context context,
            int threads,
            @Nullable CompletionEvents events,
            Consumer<CompletableFuture<Void>> closesLater,
            OwnerGate gate,
            Runnable wake) {
        this.context = context;
        this.threads = threads;
        this.events = events;
        this.closesLater = closesLater;
        this.gate = gate;
        this.wake = wake;
        this.ends = new ServerLinks<>(this, gate);
        this.channel = context.createCompletionChannel();
    }

    /** The link to a server, or null before the first call to it. */
    @Nullable
    CallLink find(RemoteServer server) {
        for (CallLink link : links) {
            if (link.server() == server) {
                return link;
            }
        }
        return null;
    }

    /** Outside of the gate. */
    @Override
    public ServerRing open(RemoteServer server) {
        server.requireHeld();
        return LeasedServer.of(server).connectRing(context, channel, SHAPE, threads, INLINE_BYTES);
    }

    // A link that is being connected has not been forgotten.
    @SuppressWarnings("NullAway")
    @Override
    public void use(RemoteServer server, ServerRing made) {
        find(server).use(made);
    }

    /** The link has already stopped using the ring, unless it had just begun to use it when connecting failed. */
    @Override
    public void leave(RemoteServer server, ServerRing end) {
        CallLink link = find(server);
        if (link != null) {
            link.leave(end);
        }
    }

    /** Begins to connect to a server that has no link yet. */
    CallLink add(RemoteServer server) {
        CallLink made = new CallLink(server, ends, wake);
        links = Arrays.copyOf(links, links.length + 1);
        links[links.length - 1] = made;
        return made;
    }

    /** Whether the queue to a server is full. */
    boolean full(@Nullable RemoteServer server) {
        CallLink link = server == null ? null : find(server);
        return link != null && link.full();
    }

    void poll(ReplyHandler handler) {
        for (CallLink link : links) {
            link.poll(handler);
        }
    }

    /** Whether polls have something to do, even if no call is under way. */
    boolean busy() {
        for (CallLink link : links) {
            if (link.busy()) {
                return true;
            }
        }
        return false;
    }

    void send() {
        for (CallLink link : links) {
            link.send();
        }
    }

    long listen(boolean waits) {
        if (eventsToken == 0 && events != null) {
            eventsToken = events.add(channel, wake);
        }
        long most = waits ? UNCERTAIN_NANOS : PATIENCE_NANOS;
        for (CallLink link : links) {
            link.listen();
        }
        for (CallLink link : links) {
            if (link.busy() && !link.requestWakeUp()) {
                most = UNCERTAIN_NANOS;
            }
        }
        return most;
    }

    @Override
    public void fail(RemoteServer server) {
        CallLink link = find(server);
        if (link != null) {
            link.lose();
        }
    }

    /** As {@link CallLink#settle}. */
    boolean settle(RemoteServer server, IntConsumer unsent, ReplyHandler handler) {
        CallLink link = find(server);
        return link != null && link.settle(unsent, handler);
    }

    /**
     * Stops sending to a server. The caller then calls {@link #forget}.
     *
     * @param unsent gets the tags of calls that have not been sent
     */
    void leave(RemoteServer server, IntConsumer unsent) {
        CallLink link = find(server);
        if (link != null) {
            link.takeUnsent(unsent);
            links = Arrays.stream(links).filter(other -> other != link).toArray(CallLink[]::new);
            link.leave();
        }
    }

    /** Ends the connection to a server. Outside of the gate: the server may take long to answer. */
    public void forget(RemoteServer server) {
        ends.forget(server);
    }

    /** Outside of the gate. */
    @Override
    public void close() {
        gate.claimed(() -> {
            ends.shut();
            for (CallLink link : links) {
                link.leave();
            }
        });
        if (eventsToken != 0 && events != null) {
            events.remove(eventsToken);
        }
        try {
            ends.close();
        } finally {
            // A ring whose server does not answer is closed later, and the channel after it.
            closesLater.accept(ends.closed().thenRun(channel::close));
        }
    }
}
