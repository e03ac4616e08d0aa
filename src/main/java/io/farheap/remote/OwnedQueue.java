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
 * What queues have in common: an owner's thread, a gate that keeps it out while others change something, and sleep.
 *
 * <p><b>Threads.</b> The owner works inside the gate, which each call enters by itself. Any other thread may claim the
 * gate; it then has all fields to itself, and the gate orders what the two do. The owner publishes itself in
 * {@code sleeper} before it looks for completions for the last time and parks; who has something for it makes that
 * visible before it reads {@code sleeper}.
 */
abstract sealed class OwnedQueue implements AutoCloseable permits RemoteQueue, RpcQueue {

    final OpenDevice device;
    final CompletionChannel channel;
    private final Consumer<OwnedQueue> onClose;
    final OwnerGate gate = new OwnerGate();
    private final CloseLatch freeing = new CloseLatch(this::freeAll);
    /** How deep the owner is inside; the owner's alone. */
    private int depth;
    /** The owner, while it sleeps or is about to. */
    private volatile @Nullable Thread sleeper;

    /** Written by the owner inside the gate, or with it claimed; nothing is freed before. */
    boolean closed;
    /** A poll is under way, of which a handler may be a part; the owner's. */
    private boolean polling;

    /**
     * Owns the channel from now on.
     *
     * @param onClose frees it, and whatever else there is of it
     */
    OwnedQueue(OpenDevice device, Consumer<OwnedQueue> onClose, CompletionChannel channel) {
        this.device = device;
        this.onClose = onClose;
        this.channel = channel;
    }

    /**
     * The owner holds the gate until {@link #exit}, as often as it has entered: no other thread can claim it in
     * between.
     */
    public final void enter() {
        if (depth++ == 0) {
            gate.enter();
        }
    }

    public final void exit() {
        if (--depth == 0) {
            gate.exit();
        }
    }

    /** {@link #enter} for what runs nobody else's code until {@link #leave}: its depth is not counted. */
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

    /** @throws IllegalStateException in a handler: what it was called for is in the midst of being handed over */
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

    /** Keeps the owner out until {@link #unclaim}. Another thread than the owner. */
    public final void claim() {
        gate.claim();
    }

    public final void unclaim() {
        gate.unclaim();
        wake();
    }

    /**
     * Sleeps until something may have ended, the thread is unparked or interrupted, or a time has passed; 1 ms at most
     * where it is interrupted already. It may return early: poll then. A virtual thread parks. The owner.
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
     * Makes completions wake the owner, and looks once more.
     *
     * @return how long to sleep, 0 where there is something to poll
     */
    abstract long arm(long nanos);

    /** Makes {@link #await} return. Any thread. */
    public final void wake() {
        Thread thread = sleeper;
        if (thread != null) {
            LockSupport.unpark(thread);
        }
    }

    /**
     * Ends the connection to a server: what is under way comes back as {@link Outcome#UNKNOWN}, if it has not ended.
     * Then, on another thread, the server's end is destroyed. The owner.
     *
     * @param tag comes back as {@link Outcome#DONE} when nothing that was sent can take effect any more, or as
     *     {@link Outcome#UNREACHABLE}. A call that its handler has put off is the handler's affair
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
     * Connects to a server anew; an earlier connection is {@linkplain #disconnect disconnected} first. The owner.
     *
     * @param tag comes back as {@link Outcome#DONE} when the queue can be used with that server again, or as
     *     {@link Outcome#UNREACHABLE}. What is posted may go over the new connection before its tag has come back, so
     *     that it may have failed by then: {@code connected} says so
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
     * Ends the connection to a server in the owner's place, who may not poll for long: what is under way comes back
     * with the owner's next poll, as {@link Outcome#UNKNOWN} if it has not ended. Another thread than the owner.
     *
     * @return completes when nothing that was posted before can take effect any more; exceptionally where the server
     *     does not answer, or the queue is closed
     */
    public final CompletableFuture<Void> fence(RemoteServer server) {
        CompletableFuture<Void> ended;
        claim();
        try {
            if (closed) {
                return CompletableFuture.failedFuture(new IllegalStateException("the queue is closed"));
            }
            detach(server.index());
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
     * Ends all connections, and fences them where their servers answer. Tags that are out do not come back. The owner;
     * idempotent.
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

    /** Nothing is posted or polled any more. Another thread than the owner, or the owner outside the gate. */
    final void shut() {
        gate.claim();
        try {
            closed = true;
            forgetServers();
        } finally {
            unclaim();
        }
    }

    /** Connects to a server that the queue has no connection to, while its owner goes on. Another thread. */
    final void join(RemoteServer server) {
        links().join(server);
    }

    /** Destroys the connection to a server that is not used any more. Another thread than the owner. */
    final void forget(RemoteServer server) {
        links().forget(server);
    }

    /** Inside the gate, or with it claimed. */
    final boolean isClosed() {
        return closed;
    }

    final void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the queue is closed");
        }
    }

    /** What there is to a server that is lost fails. Another thread than the owner. */
    final void lose(int server) {
        gate.claim();
        try {
            fail(server);
        } finally {
            unclaim();
        }
    }

    /** With the gate claimed. */
    abstract void fail(int server);

    /** Nothing is posted any more. Inside the gate, or with it claimed. */
    abstract void forgetServers();

    /** What there is to each server. */
    abstract QueueLinkChanges<?> links();

    /** Posts no more to a server, and lets what is under way to it come back. Inside the gate. */
    abstract void detach(int server);

    /** What was detached from a server is fenced. With the gate claimed. */
    abstract void fenced(int server);

    /** Whether something that has not been handed over uses a buffer. With the gate claimed. */
    abstract boolean uses(RegisteredBuffer buffer);

    /** Whether something uses a region that has not ended, or may still take effect. With the gate claimed. */
    abstract boolean uses(RemoteRegion region);

    /**
     * Any thread but an owner inside its gate. Whether an operation uses a buffer; of a queue that is closed none does:
     * its connections end, and what they had may be freed already.
     */
    final boolean usesNow(RegisteredBuffer buffer) {
        return claimed(() -> !closed && uses(buffer));
    }

    /** The same. One of some regions that an operation uses, or null. */
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
     * Whether an operation on a region has not ended, as {@link RemoteMemory#release} asks. Any thread but the owner
     * inside the gate; of a queue that is closed none is.
     */
    public final boolean isUsing(RemoteRegion region) {
        return claimed(() -> !closed && uses(region));
    }

    /** Asks with the gate claimed. Another thread than the owner. */
    final boolean claimed(BooleanSupplier question) {
        claim();
        try {
            return question.getAsBoolean();
        } finally {
            unclaim();
        }
    }

    /** Frees what it holds, which nobody uses any more; whichever thread does it, it is done when this returns. */
    final void free() {
        freeing.close();
    }

    /** Once. */
    abstract void freeAll();
}
