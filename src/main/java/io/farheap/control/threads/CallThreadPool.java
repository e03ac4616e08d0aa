package io.farheap.control.threads;

import io.farheap.control.plane.Caller;
import io.farheap.thread.FailSafeLog;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads for one kind of call, and the calls that wait for one. The numbers of both are limited, in total and for
 * each host, connection and lease. Of the waiting calls, the oldest one whose host, connection and lease have not used
 * up their threads goes first.
 *
 * <p>Thread-safe. While a thread is free, only calls wait that may not have it because of a limit; so a call that ends
 * makes room for at most one waiting call, which then gets its thread.
 */
final class CallThreadPool {

    private static final System.Logger LOG = System.getLogger(CallThreadPool.class.getName());
    private static final long IDLE_THREAD_SECONDS = 10;

    /** A lease of one connection: another connection cannot affect it, even if it uses the same lease id. */
    private record LeaseKey(String connection, long id) {}

    private record Call(Caller caller, @Nullable LeaseKey lease, Runnable task) {}

    /** The counts of one host, connection or lease; removed with its last call. */
    private static final class Share {
        private int running;
        private int waiting;
    }

    private final CallKind kind;
    private final CallKind.Limits mayRun;
    private final CallKind.Limits mayWait;
    private final ThreadPoolExecutor threads;
    private final ArrayDeque<Call> waiting = new ArrayDeque<>();
    private final Map<String, Share> hosts = new HashMap<>();
    private final Map<String, Share> connections = new HashMap<>();
    private final Map<LeaseKey, Share> leases = new HashMap<>();
    private int running;
    private boolean closed;

    CallThreadPool(CallKind kind) {
        this.kind = kind;
        mayRun = kind.threads();
        mayWait = kind.waiting();
        // The number of threads is not limited here: a thread that has finished its last call still counts for a
        // moment.
        threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_THREAD_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> Thread.ofPlatform()
                        .daemon()
                        .name("farheap-control-call")
                        .unstarted(task));
    }

    /**
     * Runs a call soon, on another thread. Never waits.
     *
     * @param lease for which the call is; null for none
     * @return null, or the reason why it is not run
     */
    synchronized @Nullable String submit(Caller caller, @Nullable Long lease, Runnable task) {
        Call call = new Call(caller, lease == null ? null : new LeaseKey(caller.connection(), lease), task);
        if (closed) {
            return "the server is stopping";
        }
        if (running < mayRun.all() && mayRun(call)) {
            return start(call);
        }
        String full = full(call);
        if (full == null) {
            waiting.add(call);
            count(call, 0, 1);
        }
        return full;
    }

    private @Nullable String start(Call call) {
        begin(call);
        try {
            threads.execute(() -> serve(call));
            return null;
        } catch (Throwable e) {
            end(call);
            FailSafeLog.log(LOG, "no thread can be had for a call", e);
            return "the server has no thread for it; call again later";
        }
    }

    private void serve(Call first) {
        for (Call call = first; call != null; call = next(call)) {
            try {
                call.task.run();
            } catch (Throwable e) {
                // A thread that ended here would count as running for ever.
                FailSafeLog.log(LOG, "a call of the control plane failed", e);
            }
        }
    }

    private synchronized @Nullable Call next(Call done) {
        end(done);
        for (Iterator<Call> calls = waiting.iterator(); calls.hasNext(); ) {
            Call call = calls.next();
            if (mayRun(call)) {
                calls.remove();
                count(call, 0, -1);
                begin(call);
                return call;
            }
        }
        return null;
    }

    private void begin(Call call) {
        running++;
        count(call, 1, 0);
    }

    private void end(Call call) {
        running--;
        count(call, -1, 0);
    }

    private boolean mayRun(Call call) {
        return running(hosts, call.caller.host()) < mayRun.host()
                && running(connections, call.caller.connection()) < mayRun.connection()
                && running(leases, call.lease) < mayRun.lease();
    }

    private @Nullable String full(Call call) {
        if (waiting(leases, call.lease) == mayWait.lease()) {
            return refusal("from this lease", mayWait.lease());
        }
        if (waiting(connections, call.caller.connection()) == mayWait.connection()) {
            return refusal("from this connection", mayWait.connection());
        }
        if (waiting(hosts, call.caller.host()) == mayWait.host()) {
            return refusal("from this host", mayWait.host());
        }
        return waiting.size() == mayWait.all() ? refusal("in all", mayWait.all()) : null;
    }

    private static <K> int running(Map<K, Share> shares, @Nullable K whose) {
        Share share = whose == null ? null : shares.get(whose);
        return share == null ? 0 : share.running;
    }

    private static <K> int waiting(Map<K, Share> shares, @Nullable K whose) {
        Share share = whose == null ? null : shares.get(whose);
        return share == null ? 0 : share.waiting;
    }

    private String refusal(String whose, int limit) {
        return "the server has " + limit + " " + kind.what + " waiting " + whose
                + ", which is the most; call again later";
    }

    private void count(Call call, int moreRunning, int moreWaiting) {
        count(hosts, call.caller.host(), moreRunning, moreWaiting);
        count(connections, call.caller.connection(), moreRunning, moreWaiting);
        if (call.lease != null) {
            count(leases, call.lease, moreRunning, moreWaiting);
        }
    }

    private static <K> void count(Map<K, Share> shares, K whose, int moreRunning, int moreWaiting) {
        Share share = shares.computeIfAbsent(whose, _ -> new Share());
        share.running += moreRunning;
        share.waiting += moreWaiting;
        if (share.running == 0 && share.waiting == 0) {
            shares.remove(whose);
        }
    }

    /** Accepts no more calls, drops those that wait and interrupts those in progress. Idempotent. */
    void stop() {
        synchronized (this) {
            closed = true;
            waiting.forEach(call -> count(call, 0, -1));
            waiting.clear();
        }
        threads.shutdownNow();
    }

    boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return threads.awaitTermination(timeout, unit);
    }
}
