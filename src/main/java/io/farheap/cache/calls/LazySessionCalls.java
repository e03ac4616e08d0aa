package io.farheap.cache.calls;

import io.farheap.cache.calls.StoppedCalls.StoppedCall;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.remote.contract.RemoteServer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A session's calls, created with its first call, and the order between them and its requests. Inside the session's
 * gate, or with it claimed.
 */
public final class LazySessionCalls implements AutoCloseable {

    private final Supplier<SessionCalls> maker;
    private @Nullable SessionCalls made;
    /** Whether a request that is pending may be a write. */
    private boolean wrote;

    public LazySessionCalls(Supplier<SessionCalls> maker) {
        this.maker = maker;
    }

    /** The session's calls, created if there are none yet. */
    public SessionCalls all() {
        SessionCalls all = made;
        if (all == null) {
            all = maker.get();
            made = all;
            // Requests that were executed at once did not pass through block: one of them may have been a write.
            wrote = true;
        }
        return all;
    }

    /** Whether the session's calls have been created. */
    public boolean any() {
        return made != null;
    }

    /** Whether calls are in the way of a request. If not, the caller issues it now. */
    public boolean block(boolean write, long address, long length) {
        wrote |= write;
        return made != null && made.blocks(write, address, length);
    }

    /** As {@link #block(boolean, long, long)}, for a request for many records. */
    public boolean block(boolean write, long[] addresses, int count, int length) {
        wrote |= write;
        if (made != null) {
            for (int i = 0; i < count; i++) {
                if (made.blocks(write, addresses[i], length)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Notes that a call issues a request. */
    void requests(boolean write) {
        wrote |= write;
    }

    /** Whether an earlier request is in a call's way: one that its footprint overlaps, if one of the two writes. */
    public boolean waitFor(RequestPath path, RegisteredProcedure procedure, long from, long span) {
        wrote &= path.pending() > 0;
        return !procedure.unordered()
                && (wrote || !procedure.readsOnly())
                && path.conflicts(!procedure.readsOnly(), from, span);
    }

    /**
     * As {@link SessionCalls#stopped(long)}; the length that the call's result may have.
     *
     * @throws IllegalArgumentException if there is none
     */
    public int stoppedResultBytes(long handle) {
        return stopped(handle).resultBytes;
    }

    private StoppedCall stopped(long handle) {
        if (made == null) {
            throw SessionCalls.noHandle(handle);
        }
        return made.stopped(handle);
    }

    /**
     * Continues a stopped call, as if it were issued now.
     *
     * @param capacity of the cache
     * @param user the buffer of the result; null if the caller keeps other memory alive
     * @param result address of the result
     * @return false if there is no room, or an earlier request is in the way; it stays stopped then
     * @throws IllegalArgumentException if there is none
     */
    public boolean resume(
            RequestPath path,
            long capacity,
            long handle,
            @Nullable RequestBuffer user,
            long result,
            CallCompletion done,
            long token) {
        StoppedCall call = stopped(handle);
        long span = call.span(capacity);
        return (span == 0 || !waitFor(path, call.procedure(), call.from, span))
                && all().resume(call, span, user, result, done, token);
    }

    /**
     * Forgets a stopped call.
     *
     * @throws IllegalArgumentException if there is none
     */
    public void drop(long handle) {
        StoppedCall call = stopped(handle);
        all().drop(call);
    }

    /** How many calls are stopped. */
    public int stopped() {
        return made == null ? 0 : made.stopped();
    }

    /** As {@link SessionCalls#poll}. */
    public int poll() {
        return made == null ? 0 : made.poll();
    }

    public int pending() {
        return made == null ? 0 : made.pending();
    }

    public int kept() {
        return made == null ? 0 : made.kept();
    }

    public void send() {
        if (made != null) {
            made.links().send();
        }
    }

    /**
     * As {@link RequestPath#listen}.
     *
     * @return the most ns to sleep; 0 for ever
     */
    public long listen() {
        return made == null ? 0 : made.listen();
    }

    public boolean uses(RequestBuffer buffer) {
        return made != null && made.uses(buffer);
    }

    public boolean reaches(long end) {
        return made != null && made.reaches(end);
    }

    public void abandonUnposted() {
        if (made != null) {
            made.abandonUnposted();
        }
    }

    public void lose(RemoteServer server) {
        if (made != null) {
            made.links().fail(server);
        }
    }

    /** As {@link SessionCalls#settle}. */
    public boolean settle(RemoteServer server) {
        return made != null && made.settle(server);
    }

    /**
     * As {@link SessionCalls#leave}.
     *
     * @return the links that have to forget the server then, or null
     */
    public @Nullable CallLinks leave(RemoteServer server) {
        if (made == null) {
            return null;
        }
        made.leave(server);
        return made.links();
    }

    @Override
    public void close() {
        if (made != null) {
            made.close();
        }
    }
}
