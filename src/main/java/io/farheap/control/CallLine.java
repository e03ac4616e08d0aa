package io.farheap.control;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The threads for one kind of call, and the calls that wait for one. How many there may be of both is limited, in all
 * and for each host and connection; of those that wait, the oldest goes first whose host and connection have not their
 * share of threads already.
 *
 * <p>Thread-safe. While a thread is to be had, only such calls wait as may not have it: a call that ends makes room for
 * one at most, which then gets its thread.
 */
final class CallLine {

    private static final System.Logger LOG = System.getLogger(CallLine.class.getName());
    private static final long IDLE_THREAD_SECONDS = 10;

    private record Call(Caller caller, Runnable task) {}

    /** Of one host or connection; it goes with its last call. */
    private static final class Share {
        private int running;
        private int waiting;
    }

    private final CallKind kind;
    private final ThreadPoolExecutor threads;
    private final ArrayDeque<Call> waiting = new ArrayDeque<>();
    private final Map<String, Share> hosts = new HashMap<>();
    private final Map<String, Share> connections = new HashMap<>();
    private int running;
    private boolean closed;

    CallLine(CallKind kind) {
        this.kind = kind;
        // Not limited here: a thread that has done its last call counts for a moment more.
        threads = new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_THREAD_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                task -> EventLoop.daemon(task, "farheap-control-call"));
    }

    /**
     * Runs a call soon, on another thread. Never waits.
     *
     * @return null, or why it does not
     */
    synchronized @Nullable String submit(Caller caller, Runnable task) {
        Call call = new Call(caller, task);
        if (closed) {
            return "the server is stopping";
        }
        if (running < kind.threads && mayRun(caller)) {
            return start(call);
        }
        String full = full(caller);
        if (full == null) {
            waiting.add(call);
            count(caller, 0, 1);
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
            LOG.log(System.Logger.Level.ERROR, "no thread can be had for a call", e);
            return "the server has no thread for it; call again later";
        }
    }

    private void serve(Call first) {
        for (Call call = first; call != null; call = next(call)) {
            try {
                call.task.run();
            } catch (Throwable e) {
                LOG.log(System.Logger.Level.ERROR, "a call of the control plane failed", e);
            }
        }
    }

    private synchronized @Nullable Call next(Call done) {
        end(done);
        for (Iterator<Call> calls = waiting.iterator(); calls.hasNext(); ) {
            Call call = calls.next();
            if (mayRun(call.caller)) {
                calls.remove();
                count(call.caller, 0, -1);
                begin(call);
                return call;
            }
        }
        return null;
    }

    private void begin(Call call) {
        running++;
        count(call.caller, 1, 0);
    }

    private void end(Call call) {
        running--;
        count(call.caller, -1, 0);
    }

    private boolean mayRun(Caller caller) {
        Share host = hosts.get(caller.host());
        Share connection = connections.get(caller.connection());
        return (host == null || host.running < kind.threadsPerHost)
                && (connection == null || connection.running < kind.threadsPerConnection);
    }

    private @Nullable String full(Caller caller) {
        Share host = hosts.get(caller.host());
        Share connection = connections.get(caller.connection());
        if (connection != null && connection.waiting == kind.waitingPerConnection) {
            return refusal("from this connection", kind.waitingPerConnection);
        }
        if (host != null && host.waiting == kind.waitingPerHost) {
            return refusal("from this host", kind.waitingPerHost);
        }
        return waiting.size() == kind.waiting ? refusal("in all", kind.waiting) : null;
    }

    private String refusal(String whose, int limit) {
        return "the server has " + limit + " " + kind.what + " waiting " + whose
                + ", which is the most; call again later";
    }

    private void count(Caller caller, int moreRunning, int moreWaiting) {
        count(hosts, caller.host(), moreRunning, moreWaiting);
        count(connections, caller.connection(), moreRunning, moreWaiting);
    }

    private static void count(Map<String, Share> shares, String whose, int moreRunning, int moreWaiting) {
        Share share = shares.computeIfAbsent(whose, _ -> new Share());
        share.running += moreRunning;
        share.waiting += moreWaiting;
        if (share.running == 0 && share.waiting == 0) {
            shares.remove(whose);
        }
    }

    /** Takes no more calls, forgets those that wait and interrupts those under way. Idempotent. */
    void stop() {
        synchronized (this) {
            closed = true;
            waiting.forEach(call -> count(call.caller, 0, -1));
            waiting.clear();
        }
        threads.shutdownNow();
    }

    boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return threads.awaitTermination(timeout, unit);
    }
}
