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

    /**
     * The most time, in ns, that a lease whose batches come may have used more than another before its batches wait.
     */
    static final long MOST_LEAD = 1_000_000;
    /** Rounds of the thread after which a lease whose batches come again has saved up no time. */
    static final int PRESENT_ROUNDS = 16;

    private static final class LeaseQueue {

        final LeaseProcedures lease;
        final ArrayDeque<RunningCall> waiting = new ArrayDeque<>();
        /** Nanoseconds used, with a start value that makes it comparable with the other leases' values. */
        long used;
        /** The virtual time when its calls began to wait, or one of them was taken last. */
        private long since;
        /** The lease's time as last added to {@code used}. */
        private long seen;

        /** Whether it has calls. */
        boolean listed;
        /** Whether batches of it come, and the last round in which one has come. */
        boolean present;

        int round;

        LeaseQueue(LeaseProcedures lease) {
            this.lease = lease;
            this.seen = lease.used();
        }

        /** Whether no batch of it has come for long. */
        boolean isAway(int now) {
            if (now - round > PRESENT_ROUNDS) {
                present = false;
            }
            return !present;
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
    /** The lines whose batches come. */
    private final List<LeaseQueue> present = new ArrayList<>();
    /** The time that the line had used from which a call was taken last: no line that has calls has used less. */
    private long virtualTime;
    /** Written with the lock held; read without it, to decide whether to take the lock. */
    private volatile int size;

    /** Any thread. */
    int size() {
        return size;
    }

    private LeaseQueue line(LeaseProcedures lease) {
        LeaseQueue line = lines.get(lease);
        if (line == null) {
            line = new LeaseQueue(lease);
            lines.put(lease, line);
        }
        return line;
    }

    /**
     * Notes that a lease has a batch in this round of the thread. Its calls mostly end in it, and never wait here.
     *
     * @return whether the batch is to wait, as the lease has used more than another that has calls here, or a batch
     */
    synchronized boolean waits(LeaseProcedures lease, int round) {
        LeaseQueue line = line(lease);
        for (int i = present.size() - 1; i >= 0; i--) {
            if (present.get(i).isAway(round)) {
                present.remove(i);
            }
        }
        LeaseQueue least = least(line, round);
        if (!line.present) {
            line.present = true;
            present.add(line);
            if (!line.listed) {
                // It has saved up no time, and owes none.
                line.seen = lease.used();
                line.used = Math.max(line.used, least == null ? virtualTime : least.used);
                line.since = line.used;
            }
        }
        line.round = round;
        line.charge();
        if (least != null && line.used - least.used > MOST_LEAD) {
            return true;
        }
        line.since = Math.max(line.since, line.used);
        return false;
    }

    /** The line beside this one that has used least of those that have calls or, just now, batches. */
    private @Nullable LeaseQueue least(LeaseQueue but, int round) {
        LeaseQueue least = null;
        for (int i = 0; i < active.size(); i++) {
            least = less(least, active.get(i), but);
        }
        for (int i = 0; i < present.size(); i++) {
            LeaseQueue line = present.get(i);
            // A round may serve one ring alone.
            if (round - line.round <= present.size()) {
                least = less(least, line, but);
            }
        }
        return least;
    }

    private static @Nullable LeaseQueue less(@Nullable LeaseQueue least, LeaseQueue line, LeaseQueue but) {
        if (line == but) {
            return least;
        }
        line.charge();
        return least == null || line.used - least.used < 0 ? line : least;
    }

    /** Whether the next call waits, as a lease that has a batch in this round has used less than the call's. */
    synchronized boolean yields(int round) {
        LeaseQueue next = next();
        for (int i = 0; next != null && i < present.size(); i++) {
            LeaseQueue line = present.get(i);
            if (line.round == round && line != next) {
                line.charge();
                if (next.used - line.used > MOST_LEAD) {
                    return true;
                }
            }
        }
        return false;
    }

    synchronized void add(RunningCall call, LeaseProcedures lease) {
        LeaseQueue line = line(lease);
        if (!line.listed) {
            line.since = virtualTime;
            if (active.isEmpty()) {
                // Nobody has waited for what it used meanwhile.
                line.seen = lease.used();
            }
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

    private @Nullable LeaseQueue next() {
        LeaseQueue next = null;
        for (int i = 0; i < active.size(); i++) {
            LeaseQueue line = active.get(i);
            line.charge();
            if (next == null || line.used - next.used < 0) {
                next = line;
            }
        }
        return next;
    }

    private synchronized @Nullable RunningCall takeNext() {
        LeaseQueue next = next();
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
            present.remove(line);
        }
    }
}
