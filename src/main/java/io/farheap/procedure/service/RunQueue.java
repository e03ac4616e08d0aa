package io.farheap.procedure.service;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whose calls run next on one server thread: the calls that wait here for a slice, and the batches of calls in the
 * thread's message rings. Leases share the time by what they have used (start-time fair queueing; Goyal, Vin, Cheng,
 * SIGCOMM 1996).
 *
 * <p><b>Who counts.</b> A lease is <em>present</em> while it has calls here, and for {@link #PRESENT_PASSES} passes
 * over the thread's rings after this thread has run calls of it, or after a batch of it has had to wait. So a lease
 * whose batches have no calls keeps none waiting. The <em>virtual time</em> is the least that a present lease has
 * used, or the most that any has if none is present; it never goes back. A lease that was away begins there: it has
 * saved up nothing, and owes at most what it was ahead.
 *
 * <p><b>Who waits.</b> Of the calls here those of the lease that has used least are next. A batch waits, and so does
 * the next call, while its lease has used {@link #MOST_LEAD} more than another that is present. Each wait has an end
 * ({@link LeaseWait}). Of the batches of one lease those that have waited most often are next, and its batches and its
 * calls take turns.
 *
 * <p><b>Other threads.</b> Time of the other threads counts too, so that a lease whose calls come over many threads
 * gets no more of all of them than one whose calls come over one; but while a lease waits here, what it uses there puts
 * it back by {@link #MOST_AHEAD} at most, until one of its calls has run. What it uses there while it is away from here
 * does not count.
 *
 * <p>Thread-safe, since idle threads take calls from it. Passes are numbers that the owner counts up.
 */
final class RunQueue {

    /** The most time, in ns, that the use of other threads adds to a lease's own between two of its turns here. */
    static final long MOST_AHEAD = 100_000_000;

    /** The most time, in ns, that a lease may have used more than another before its batches and calls wait. */
    static final long MOST_LEAD = 1_000_000;
    /** Passes over the thread's rings for which a lease counts after the thread has run calls of it. */
    static final int PRESENT_PASSES = 2;
    /** The longest time, in ns, that a lease's batches or calls wait for those of others. */
    static final long LONGEST_WAIT = 10_000_000;

    /** Time, in ns, of other work beyond that of calls after which a wait ends. */
    private static final long OTHER_WORK = 100_000;

    /**
     * For how long a lease's batches, or its calls, have waited because it has used more than others. The wait ends
     * after {@link RunQueue#LONGEST_WAIT}, or when the thread has spent more of it on other work, such as others'
     * reads, than on calls, by {@link RunQueue#OTHER_WORK}: a lease whose calls take a hundredth of the thread's time
     * keeps none waiting for long.
     */
    private static final class LeaseWait {

        boolean begun;
        private long since;
        private long workedBefore;

        /**
         * @param now the time
         * @param worked for how long the thread has run calls so far, of any lease
         * @return whether it continues
         */
        boolean continues(long now, long worked) {
            if (!begun) {
                begun = true;
                since = now;
                workedBefore = worked;
                return true;
            }
            long waited = now - since;
            return waited < LONGEST_WAIT && waited < OTHER_WORK + 2 * (worked - workedBefore);
        }
    }

    private static final class LeaseQueue {

        final LeaseProcedures lease;
        final ArrayDeque<RunningCall> waiting = new ArrayDeque<>();
        /** Nanoseconds used, with a start value that makes it comparable with the other leases' values. */
        long used;
        /** What it had used when it came, or one of its batches or calls ran last. */
        long since;
        /** The lease's time as last added to {@code used}. */
        long seen;

        /** Whether it has calls here, and is among the {@code active}. */
        boolean listed;
        /** Whether it is among the {@code recent}: it ran, or had to wait, in this pass or a little before. */
        boolean here;

        private long pass;
        /** The last pass in which it had a batch, while it is here. */
        private long batchPass;

        final LeaseWait batchWait = new LeaseWait();
        final LeaseWait callWait = new LeaseWait();
        /** Whether it was a batch that ran last, and no call from here. */
        boolean batchRan;
        /** The most passes that one of its batches has waited, as seen in this pass, and in the one before. */
        private int longest;

        private int longestBefore;
        private long looked;

        LeaseQueue(LeaseProcedures lease) {
            this.lease = lease;
            this.seen = lease.used();
        }

        boolean isPresent() {
            return listed || here;
        }

        boolean hasBatches(long now) {
            return here && now - batchPass <= 1;
        }

        /** A batch of it is looked at. */
        void look(long now) {
            if (looked != now) {
                longestBefore = now - looked == 1 ? longest : 0;
                longest = 0;
                looked = now;
            }
        }

        /** A batch continues to wait that has waited in so many passes before. */
        void postpone(int passes) {
            longest = Math.max(longest, passes + 1);
        }

        /** Whether another batch of it has waited in more passes than this many. */
        boolean hasOlder(int passes) {
            return passes < longestBefore;
        }
    }

    private final LongSupplier clock;
    /** The lines of all leases that have had calls here recently. */
    private final IdentityHashMap<LeaseProcedures, LeaseQueue> lines = new IdentityHashMap<>();
    /** The lines that have calls. */
    private final List<LeaseQueue> active = new ArrayList<>();
    /** The lines that have run, or whose batches have waited, in the last passes. */
    private final List<LeaseQueue> recent = new ArrayList<>();

    private long virtualTime;
    /** The most that any line has used. */
    private long latest;
    /** For how long this thread has run calls, in ns; without those of a lease that is alone. */
    private long worked;
    /** The pass that the owner named last. */
    private long pass;
    /** Written with the lock held; read without it, to decide whether to take the lock. */
    private volatile int size;

    /** @param clock in ns, as {@link System#nanoTime}; it is read when something is to wait */
    RunQueue(LongSupplier clock) {
        this.clock = clock;
    }

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

    /** Notes the pass: leases that have not run for some passes are away from now on. */
    private void begin(long now) {
        if (pass == now) {
            return;
        }
        pass = now;
        for (int i = recent.size() - 1; i >= 0; i--) {
            LeaseQueue line = recent.get(i);
            if (now - line.pass > PRESENT_PASSES) {
                line.here = false;
                recent.remove(i);
            }
        }
    }

    private void stay(LeaseQueue line) {
        line.pass = pass;
        if (!line.here) {
            line.here = true;
            line.batchPass = pass - 2;
            recent.add(line);
        }
    }

    private void stayWithBatch(LeaseQueue line) {
        stay(line);
        line.batchPass = pass;
    }

    /**
     * Adds what a lease has used since the last call, on any thread. The limit stands still while it waits: if it moved
     * on with the virtual time, a lease that uses other threads all the time would never have its turn.
     */
    private void charge(LeaseQueue line) {
        long now = line.lease.used();
        line.used = Math.min(line.used + now - line.seen, line.since + MOST_AHEAD);
        line.seen = now;
        latest = Math.max(latest, line.used);
    }

    /**
     * Charges a line, and first lets one that was away begin at the virtual time.
     *
     * @param own what its lease has used just now, on this thread
     */
    private void charge(LeaseQueue line, long own) {
        if (!line.isPresent()) {
            advance();
            line.seen = line.lease.used() - own;
            line.used = Math.max(line.used, virtualTime);
            line.since = line.used;
        }
        charge(line);
    }

    private void advance() {
        LeaseQueue least = least(null);
        virtualTime = Math.max(virtualTime, least == null ? latest : least.used);
    }

    /** How much more a line has used than another that is present; 0 if that is little. */
    private long lead(LeaseQueue line) {
        // Each line that is present has used as much as the virtual time, so most batches need no look at all lines.
        if (line.used - virtualTime <= MOST_LEAD / 2) {
            return 0;
        }
        advance();
        LeaseQueue least = least(line);
        return least == null ? 0 : line.used - least.used;
    }

    /** The line beside this one that has used least of those that are present. */
    private @Nullable LeaseQueue least(@Nullable LeaseQueue but) {
        return least(recent, but, least(active, but, null));
    }

    private @Nullable LeaseQueue least(
            List<LeaseQueue> among, @Nullable LeaseQueue but, @Nullable LeaseQueue leastBefore) {
        LeaseQueue least = leastBefore;
        for (int i = 0; i < among.size(); i++) {
            LeaseQueue line = among.get(i);
            if (line != but) {
                charge(line);
                if (least == null || line.used < least.used) {
                    least = line;
                }
            }
        }
        return least;
    }

    /**
     * Whether a lease's batch is to wait in this pass. Its calls mostly end in it, and never wait here.
     *
     * @param passes in how many passes before this one the batch has waited
     */
    synchronized boolean waits(LeaseProcedures lease, int passes, long now) {
        begin(now);
        LeaseQueue line = line(lease);
        charge(line, 0);
        line.look(now);
        long lead = lead(line);
        boolean waits = false;
        // Beside other leases, its calls that had to wait come before another batch.
        if (lead > MOST_LEAD || line.listed && line.callWait.begun && line.batchRan) {
            waits = line.batchWait.continues(clock.getAsLong(), worked);
        } else {
            line.batchWait.begun = false;
        }
        if (waits || lead > MOST_LEAD / 2 && line.hasOlder(passes)) {
            line.postpone(passes);
            if (line.here) {
                stayWithBatch(line);
            }
            return true;
        }
        line.since = Math.max(line.since, line.used);
        return false;
    }

    /** Whether the next call waits in this pass, as a lease whose batches come has used less than the call's. */
    synchronized boolean yields(long now) {
        begin(now);
        LeaseQueue next = least(active, null, null);
        if (next == null) {
            return false;
        }
        boolean yields = next.batchWait.begun && !next.batchRan && next.hasBatches(now);
        for (int i = 0; i < recent.size(); i++) {
            LeaseQueue line = recent.get(i);
            if (line != next && line.hasBatches(now)) {
                charge(line);
                yields |= next.used - line.used > MOST_LEAD;
            }
        }
        if (!yields) {
            next.callWait.begun = false;
        }
        return yields && next.callWait.continues(clock.getAsLong(), worked);
    }

    /**
     * The owner has run calls of a lease for some time, which the lease has been charged for already.
     *
     * @param batch whether these were of a batch, and not from here
     */
    synchronized void ran(LeaseProcedures lease, long nanos, boolean batch, long now) {
        begin(now);
        worked += nanos;
        if (lease.ended()) {
            // It has been forgotten, or will be.
            return;
        }
        LeaseQueue line = line(lease);
        charge(line, nanos);
        if (batch) {
            line.batchRan = true;
            line.batchWait.begun = false;
            stayWithBatch(line);
        } else {
            stay(line);
        }
    }

    synchronized void add(RunningCall call, LeaseProcedures lease, long now) {
        LeaseQueue line = line(lease);
        if (!line.listed) {
            begin(now);
            // Its only call may have been running: then the lease is still here, and has its own value.
            charge(line, 0);
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
        LeaseQueue next = least(active, null, null);
        if (next == null) {
            return null;
        }
        advance();
        next.since = next.used;
        RunningCall call = next.waiting.pollFirst();
        size--;
        taken(next);
        return call;
    }

    /** Calls of a line were taken to run. */
    private void taken(LeaseQueue line) {
        line.batchRan = false;
        line.callWait.begun = false;
        stay(line);
        if (line.listed && line.waiting.isEmpty()) {
            line.listed = false;
            active.remove(line);
            if (line.lease.ended()) {
                forget(line.lease);
            }
        }
    }

    /**
     * Takes more calls of the lease from which one was just taken, to run in turns with it.
     *
     * @param into from {@code count} on
     * @return how many calls there are then
     */
    synchronized int takeMore(LeaseProcedures lease, RunningCall[] into, int count, int most) {
        LeaseQueue line = lines.get(lease);
        if (line == null) {
            return count;
        }
        int all = count;
        while (all < most) {
            RunningCall next = line.waiting.pollFirst();
            if (next == null) {
                break;
            }
            into[all++] = next;
        }
        if (all > count) {
            size -= all - count;
            taken(line);
        }
        return all;
    }

    synchronized void forget(LeaseProcedures lease) {
        LeaseQueue line = lines.get(lease);
        if (line != null && !line.listed) {
            lines.remove(lease);
            recent.remove(line);
        }
    }
}
