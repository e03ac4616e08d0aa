package io.farheap.cache.session;

import io.farheap.cache.calls.LazySessionCalls;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.migration.region.AddressLimit;
import io.farheap.thread.OwnerGate;
import io.farheap.thread.OwnerThread;
import org.jspecify.annotations.Nullable;

/**
 * Decides which thread may enter a session and which requests are admitted, and holds the path that these take now: the
 * session's owner and its gate, and the checks of addresses and buffers. The owner enters the gate; migrations,
 * reconfigurations and a thread that closes the cache claim it.
 *
 * <p>Each object between a session and the native call would cost a load that the next load waits for. So the fields
 * that the {@linkplain #tryExecute short path} reads are here, and a session has a reference to this object.
 */
public final class SessionAdmission {

    private final RequestBuffer.Owner cache;
    private final AddressLimit capacity;
    private final LazySessionCalls calls;
    private final OwnerThread owner = new OwnerThread("session");
    private final OwnerGate gate = new OwnerGate();

    // Written inside the gate, or with it claimed, as all fields below.
    private RequestPath path;
    /** The same path while the session is open and has no calls, which might be in a request's way; otherwise null. */
    private @Nullable RequestPath clear;

    /** No request is admitted any more, but the session is polled. */
    private boolean closing;
    /** The owner does not enter any more. */
    private boolean closed;

    /**
     * The caller sets {@linkplain #path(RequestPath) a path} before the first use.
     *
     * @param capacity the address limit of requests, in bytes
     */
    @SuppressWarnings("NullAway.Init")
    SessionAdmission(RequestBuffer.Owner cache, AddressLimit capacity, LazySessionCalls calls) {
        this.cache = cache;
        this.capacity = capacity;
        this.calls = calls;
    }

    public OwnerGate gate() {
        return gate;
    }

    public long capacity() {
        return capacity.bytes();
    }

    /** The path that requests take now. Inside the gate. */
    public RequestPath path() {
        return path;
    }

    /** Sets the path of requests. Before another thread knows the session, or with the gate claimed. */
    void path(RequestPath next) {
        path = next;
        clear = closed || closing || calls.any() ? null : next;
    }

    /** The session's calls. Inside the gate. */
    public LazySessionCalls calls() {
        return calls;
    }

    /** From now on calls may be in a request's way. Inside the gate. */
    void expectCalls() {
        clear = null;
    }

    /** Inside the gate, or with it claimed. */
    boolean closed() {
        return closed;
    }

    /** Inside the gate. */
    void beginClose() {
        closing = true;
        clear = null;
    }

    /**
     * Refuses all use of the session from now on. With the gate claimed.
     *
     * @return whether this is the first time
     */
    boolean close() {
        boolean first = !closed;
        closed = true;
        clear = null;
        return first;
    }

    /** As {@link OwnerThread#own}. */
    void own() {
        owner.own();
    }

    /** The owner's name for messages. Any thread. */
    String ownerName() {
        return owner.name();
    }

    /**
     * Enters the gate as the session's owner, unless the thread is inside already (in a callback).
     *
     * @return whether this call entered it; to be passed to {@link #exit}
     */
    public boolean enter() {
        owner.own();
        boolean entered = !gate.inside();
        if (entered) {
            gate.enter();
        }
        if (closed) {
            exit(entered);
            throw new IllegalStateException("the session is closed");
        }
        return entered;
    }

    public void exit(boolean entered) {
        if (entered) {
            gate.exit();
        }
    }

    /** As {@link #enter}, for methods that a callback may not call. */
    boolean enterOutsideCallback() {
        refuseInCallback();
        return enter();
    }

    /** Throws if the calling thread is in a callback of this session. */
    public void refuseInCallback() {
        if (owner.isCurrent() && gate.inside()) {
            throw new IllegalStateException(
                    "a callback may issue requests, but not poll, block on, release or close its session,"
                            + " nor create, close or move anything of its cache");
        }
    }

    /** Gives up ownership: the next thread that uses the session becomes its owner. */
    public void release() {
        exit(enterOutsideCallback());
        owner.disown();
    }

    /**
     * The short path of a request that meets no obstacle. It declines any other request; {@link SessionRequests} then
     * handles it, or throws.
     *
     * @return as {@link RequestPath#tryExecute}
     */
    public int tryExecute(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token) {
        OwnerGate gate = this.gate;
        // An owner that is inside already is in a callback. The sign bit of the union is set if one of the values is
        // negative, or length is 0.
        if ((address | offset | length | length - 1) < 0 || !owner.isCurrent() || gate.inside()) {
            return RequestPath.DECLINED;
        }
        gate.enter();
        try {
            if (length > capacity.bytes() - address
                    || length > buffer.usableBytes() - offset
                    || buffer.owner() != cache) {
                return RequestPath.DECLINED;
            }
            RequestPath to = pathOf(write, address, length);
            return to == null
                    ? RequestPath.DECLINED
                    : to.tryExecute(write, address, buffer, offset, length, completion, token);
        } finally {
            gate.exit();
        }
    }

    /**
     * The path of a request now; null if calls are in its way, or the session is closing or closed. Inside the gate.
     */
    private @Nullable RequestPath pathOf(boolean write, long address, long length) {
        if (clear != null) {
            return clear;
        }
        return closed || closing || calls.block(write, address, length) ? null : path;
    }

    /**
     * Inside the gate: a thread that makes the cache smaller lowers the capacity, then claims every gate, and so finds
     * every request that was admitted before.
     */
    void checkRange(long address, long length) {
        long end = capacity();
        if (address < 0 || length < 1 || length > end - address) {
            throw new IndexOutOfBoundsException(length + " bytes at address " + address + "; the cache has " + end
                    + " bytes, and a request at least 1");
        }
    }

    /**
     * Inside the gate: a thread that closes a buffer marks it, then claims every gate, and so finds every request that
     * uses it.
     */
    void checkOpen(RequestBuffer buffer) {
        refuseWhileClosing();
        if (buffer.closed()) {
            throw new IllegalStateException("the buffer is closed");
        }
    }

    void refuseWhileClosing() {
        if (closing) {
            throw new IllegalStateException("the session is closing");
        }
    }

    void checkBuffer(RequestBuffer buffer, long offset, long length) {
        if (buffer.owner() != cache) {
            throw new IllegalArgumentException("the buffer belongs to another cache");
        }
        if (offset < 0 || length > buffer.bytes() - offset) {
            throw new IndexOutOfBoundsException(
                    "bytes " + offset + " to " + (offset + length) + " of a buffer of " + buffer.bytes());
        }
    }
}
