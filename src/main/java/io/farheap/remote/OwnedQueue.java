package io.farheap.remote;

import io.farheap.lifetime.CloseLatch;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.device.OpenDevice;
import io.farheap.thread.OwnerGate;
import io.farheap.thread.Uninterruptibles;
import io.farheap.verbs.CompletionChannel;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What both kinds of queue have in common: an owner's thread, a gate that keeps the owner out while another thread
 * changes the queue, and sleep.
 *
 * <p><b>Threads.</b> The owner works inside the gate, which each call enters by itself. Any other thread may claim the
 * gate; it then has all fields to itself, and the gate orders the writes of the two. To sleep, the owner stores itself
 * in {@code sleeper}, looks for completions once more, and parks. A thread that has news for the owner makes it visible
 * first and loads {@code sleeper} second: so either the owner sees the news, or that thread sees the sleeper and wakes
 * it.
 */
abstract sealed class OwnedQueue implements AutoCloseable permits RemoteQueue, RpcQueue {

    final OpenDevice device;
    final CompletionChannel channel;
    private final Consumer<OwnedQueue> onClose;
    final OwnerGate gate = new OwnerGate();
    private final CloseLatch freeing = new CloseLatch(this::freeAll);
    /** How many times the owner is inside the gate; the owner alone uses it. */
    private int depth;
    /** The owner, while it sleeps or is about to sleep. */
    private volatile @Nullable Thread sleeper;

    /** Written by the owner inside the gate, or with the gate claimed; nothing is freed before it is true. */
    boolean closed;
    /** A poll is under way, perhaps in a handler; the owner alone uses it. */
    private boolean polling;

    /**
     * Takes ownership of the channel.
     *
     * @param onClose frees the queue and removes it from the open ones
     */
    OwnedQueue(OpenDevice device, Consumer<OwnedQueue> onClose, CompletionChannel channel) {
        this.device = device;
        this.onClose = onClose;
        this.channel = channel;
    }

    /**
     * Enters the gate. The owner stays inside until it has called {@link #exit} as often as this: no other thread can
     * claim the gate in between.
     */
    public final void enter() {
        if (depth++ == 0) {
            gate.enter();
        }
    }

    /** Ends one {@link #enter}; after the last one another thread can claim the gate. The owner calls it. */
    public final void exit() {
        if (--depth == 0) {
            gate.exit();
        }
    }

    /** As {@link #enter}, for code that calls no handler before {@link #leave}: it is not counted. */
    final void pass() {
        if (depth == 0) {
            gate.enter();
        }
    }

    final void leave() {
        if (depth == 0) {
            gate.exit();
        }
    }

    /** @throws IllegalStateException in a handler, which is called in the middle of a poll */
    final void beginPoll() {
        refuseInHandler();
        polling = true;
    }

    final void endPoll() {
        polling = false;
    }

    private void refuseInHandler() {
        if (polling) {
            throw new IllegalStateException(
                    "a handler polls, closes, disconnects or reconnects its queue; post there, and return");
        }
    }

    /** Keeps the owner out until {@link #unclaim}. Any thread but the owner may call it. */
    public final void claim() {
        gate.claim();
    }

    /** Lets the owner in again, and wakes it if it sleeps. The thread that has claimed the gate calls it. */
    public final void unclaim() {
        gate.unclaim();
        wake();
    }

    /**
     * Sleeps until an operation may have ended, the thread is unparked or interrupted, or a time has passed; 1 ms at
     * most if the thread is interrupted already. It may return early, so poll afterwards. A virtual thread parks. The
     * owner calls it.
     *
     * @param nanos the most to sleep
     */
    public final void await(long nanos) {
        sleeper = Thread.currentThread();
        try {
            enter();
            long most;
            try {
                most = arm(nanos);
            } finally {
                exit();
            }
            if (most > 0) {
                Uninterruptibles.parkNanos(this, most);
            }
        } finally {
            sleeper = null;
        }
    }

    /**
     * Makes completions wake the owner, and looks for completions once more.
     *
     * @return how long to sleep, 0 if there is something to poll
     */
    abstract long arm(long nanos);

    /** Makes {@link #await} return. Any thread may call it. */
    public final void wake() {
        Thread thread = sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Ends the connection to a server: operations in flight that have not ended return as {@link Outcome#UNKNOWN}. Then
     * another thread destroys the server's end. The owner calls it.
     *
     * @param tag returned with {@link Outcome#DONE} when nothing that was sent can take effect any more, else with
     *     {@link Outcome#UNREACHABLE}. A call that its handler has put off is not covered: the handler decides what
     *     becomes of it
     * @throws IllegalStateException in a handler of the queue's poll; nothing is disconnected then
     */
    public final void disconnect(RemoteServer server, long tag) {
        refuseInHandler();
        enter();
        try {
            detach(server.index());
            links().disconnect(server, tag);
        } finally {
            exit();
        }
    }

    /**
     * Connects to a server again; an earlier connection is {@linkplain #disconnect disconnected} first. The owner calls
     * it.
     *
     * @param tag returned with {@link Outcome#DONE} when the queue can be used with that server again, else with
     *     {@link Outcome#UNREACHABLE}. Operations may be posted to the new connection before the tag has returned, so
     *     the connection may have failed by then: {@code connected} says so
     * @throws IllegalStateException in a handler of the queue's poll; nothing is disconnected then
     */
    public final void reconnect(RemoteServer server, long tag) {
        refuseInHandler();
        enter();
        try {
            detach(server.index());
            links().reconnect(server, tag);
        } finally {
            exit();
        }
    }

    /**
     * Ends the connection to a server on behalf of the owner, which may not poll for long: the operations in flight
     * return from the owner's next poll, with {@link Outcome#UNKNOWN} if they have not ended. Any thread but the owner
     * may call it, also on a closed queue, which a silent server has not fenced yet.
     *
     * @return completes when nothing that was posted before can take effect any more; exceptionally if the server does
     *     not answer, or the remote memory is closed
     */
    public final CompletableFuture<Void> fence(RemoteServer server) {
        CompletableFuture<Void> ended;
        claim();
        try {
            if (!closed) {
                detach(server.index());
            }
            ended = links().fenceInTurn(server);
        } finally {
            unclaim();
        }
        return ended.thenRun(() -> endUse(server.index()));
    }

    private void endUse(int server) {
        claim();
        try {
            fenced(server);
        } finally {
            unclaim();
        }
    }

    /**
     * Ends all connections, and fences them if their servers answer. Outstanding tags do not return. The owner calls
     * it; idempotent.
     *
     * @throws IllegalStateException in a handler; nothing is closed then
     */
    @Override
    public final void close() {
        refuseInHandler();
        enter();
        try {
            closed = true;
            forgetServers();
        } finally {
            exit();
        }
        onClose.accept(this);
    }

    /** Ends posting and polling. Any thread but the owner may call it, or the owner outside the gate. */
    final void shut() {
        gate.claim();
        try {
            closed = true;
            forgetServers();
        } finally {
            unclaim();
        }
    }

    /**
     * Connects to a server to which the queue has no connection, while its owner continues. Another thread than the
     * owner calls it.
     */
    final void join(RemoteServer server) {
        links().join(server);
    }

    /** Destroys the connection to a server that is no longer used. Another thread than the owner calls it. */
    final void forget(RemoteServer server) {
        links().forget(server);
    }

    /** Whether the queue is closed. Inside the gate, or with it claimed. */
    final boolean isClosed() {
        return closed;
    }

    final void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the queue is closed");
        }
    }

    /** Fails the connection to a lost server. Another thread than the owner calls it. */
    final void lose(int server) {
        gate.claim();
        try {
            fail(server);
        } finally {
            unclaim();
        }
    }

    /** Fails the connection to a server. With the gate claimed. */
    abstract void fail(int server);

    /** Ends posting to all servers. Inside the gate, or with it claimed. */
    abstract void forgetServers();

    /** The links to each server. */
    abstract QueueLinkChanges<?> links();

    /** Ends posting to a server; what is in flight to it still returns. Inside the gate, or with it claimed. */
    abstract void detach(int server);

    /** Notes that the connections detached from a server are fenced. With the gate claimed. */
    abstract void fenced(int server);

    /** Whether an operation that has not been handed over uses a buffer. With the gate claimed. */
    abstract boolean uses(RegisteredBuffer buffer);

    /** Whether an operation that has not ended, or may still take effect, uses a region. With the gate claimed. */
    abstract boolean uses(RemoteRegion region);

    /**
     * Whether an operation uses a buffer. On a closed queue the answer is no: its connections end, and their memory may
     * be freed already. Any thread may call, except an owner inside its gate.
     */
    final boolean usesNow(RegisteredBuffer buffer) {
        return claimed(() -> !closed && uses(buffer));
    }

    /** One of the regions that an operation uses, or null; as {@link #usesNow}. */
    final @Nullable RemoteRegion used(List<RemoteRegion> regions) {
        claim();
        try {
            return closed
                    ? null
                    : regions.stream().filter(this::uses).findFirst().orElse(null);
        } finally {
            unclaim();
        }
    }

    /**
     * Whether an operation on a region has not ended, as {@link RemoteMemory#release} asks; no on a closed queue. Any
     * thread may call, except the owner inside the gate.
     */
    public final boolean isUsing(RemoteRegion region) {
        return claimed(() -> !closed && uses(region));
    }

    /** Asks with the gate claimed. Another thread than the owner calls it. */
    final boolean claimed(BooleanSupplier question) {
        claim();
        try {
            return question.getAsBoolean();
        } finally {
            unclaim();
        }
    }

    /**
     * Frees what the queue holds, which no thread uses any more. If another thread is freeing it, this returns when
     * that has ended.
     */
    final void free() {
        freeing.close();
    }

    /** Frees everything. Called once. */
    abstract void freeAll();
}
