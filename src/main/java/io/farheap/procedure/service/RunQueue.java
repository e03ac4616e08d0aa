package io.farheap.procedure.service;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for a slice of one server thread. Leases share its time by the time that they have used: the
 * lease that has used least is next, and a lease that returns begins at the amount of that one (start-time fair
 * queueing; Goyal, Vin, Cheng, SIGCOMM 1996). Time of the other threads counts too, so that a lease whose calls come
 * over many threads gets no more of all of them than one whose calls come over one; but while a lease's calls wait
 * here, what it uses there puts them back by {@link #MOST_AHEAD} at most, until one of them has had a slice.
 * Thread-safe, since idle threads take calls from it.
 */
final class RunQueue {

    /** The most time, in ns, that the use of other threads adds to a lease's own between two of its slices here. */
    static final long MOST_AHEAD = 100_000_000;

    private static final class LeaseQueue {

        final LeaseProcedures lease;
        final ArrayDeque<RunningCall> waiting = new ArrayDeque<>();
        /** Nanoseconds used, with a start value that makes it comparable with the other leases' values. */
        long used;
        /** The virtual time when its calls began to wait, or one of them was taken last. */
        private long since;
        /** The lease's time as last added to {@code used}. */
        private long seen;

        boolean listed;

        LeaseQueue(LeaseProcedures lease) {
            this.lease = lease;
            this.seen = lease.used();
        }

        /**
         * Adds what the lease has used since the last call, on any thread. The limit stands still while calls wait: if
         * it moved on with the virtual time, a lease that uses other threads all the time would never have its turn.
         */
        void charge() {
            long now = lease.used();
            used = Math.min(used + now - seen, since + MOST_AHEAD);
            seen = now;
        }
    }

    /** The lines of all leases that have had calls here recently. */
    private final IdentityHashMap<LeaseProcedures, LeaseQueue> lines = new IdentityHashMap<>();
    /** The lines that have calls. */
    private final List<LeaseQueue> active = new ArrayList<>();
    /** The time that the line had used from which a call was taken last: no line that has calls has used less. */
    private long virtualTime;
    /** Written with the lock held; read without it, to decide whether to take the lock. */
    private volatile int size;

    /** Any thread. */
    int size() {
        return size;
    }

    synchronized void add(RunningCall call, LeaseProcedures lease) {
        LeaseQueue line = lines.get(lease);
        if (line == null) {
            line = new LeaseQueue(lease);
            lines.put(lease, line);
        }
        if (!line.listed) {
            line.since = virtualTime;
            line.charge();
            // Its only call may have been running: then the lease still has its own value.
            line.used = Math.max(line.used, virtualTime);
            line.listed = true;
            active.add(line);
        }
        line.waiting.addLast(call);
        size++;
    }

    /**
     * Takes the next call.
     *
     * @return null if none waits
     */
    @Nullable
    RunningCall take() {
        return size == 0 ? null : takeNext();
    }

    private synchronized @Nullable RunningCall takeNext() {
        LeaseQueue next = null;
        for (int i = 0; i < active.size(); i++) {
            LeaseQueue line = active.get(i);
            line.charge();
            if (next == null || line.used - next.used < 0) {
                next = line;
            }
        }
        if (next == null) {
            return null;
        }
        virtualTime = next.used;
        next.since = virtualTime;
        RunningCall call = next.waiting.pollFirst();
        size--;
        if (next.waiting.isEmpty()) {
            next.listed = false;
            active.remove(next);
        }
        return call;
    }

    /**
     * Takes more calls of the lease from which one was just taken, to run in turns with it.
     *
     * @param into from {@code count} on
     * @return how many calls there are then
     */
    synchronized int takeMore(LeaseProcedures lease, RunningCall[] into, int count, int most) {
        LeaseQueue line = lines.get(lease);
        int all = count;
        while (line != null && all < most) {
            RunningCall next = line.waiting.pollFirst();
            if (next == null) {
                break;
            }
            into[all++] = next;
        }
        size -= all - count;
        if (line != null && line.listed && line.waiting.isEmpty()) {
            line.listed = false;
            active.remove(line);
        }
        return all;
    }

    synchronized void forget(LeaseProcedures lease) {
        LeaseQueue line = lines.get(lease);
        if (line != null && !line.listed) {
            lines.remove(lease);
        }
    }
}
