package io.farheap.procedure.service;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Whose calls run next on one server thread: the calls that wait here for a slice, and the batches of calls in the
 * thread's message rings. Leases share the time by what they have used.
 *
 * <p><b>Credit.</b> A <em>virtual time</em>, which never goes back, is the least that a lease has used: one that used
 * less has not wanted more, and saves nothing up. A lease's batches and calls run until it has used {@link #CREDIT}
 * more than that; then they wait. If nothing but such calls is left in a pass over the thread's rings, the virtual time
 * rises until one of their leases may run for {@link #STEP}; or for the whole credit, if no other has run since it rose
 * last. So leases that always have calls stay within the credit and a batch or slice of one another, one that has none
 * for a moment keeps most of what it is behind, and the thread idles for none. (The virtual time is that of start-time
 * fair queueing; Goyal, Vin, Cheng, SIGCOMM 1996. The credit lets batches run without a look at all leases.)
 *
 * <p><b>Waiting.</b> Of the calls here those of the lease that has used least are next. A lease's batches and its calls
 * take turns. The virtual time rises also when the thread has spent more time on other work, such as reads, than on
 * calls, by {@link #OTHER_WORK}: a lease whose calls take a hundredth of the thread's time keeps none waiting for long.
 *
 * <p><b>Other threads.</b> Time of the other threads counts too, so that a lease whose calls come over many threads
 * gets no more of all of them than one whose calls come over one; but what it uses there puts it back by
 * {@link #MOST_AHEAD} at most, until calls of it have run here. It does not count while the lease is away from here: it
 * has no calls here, and comes back only when this thread has run calls for {@link #AWAY}.
 *
 * <p>Thread-safe, since idle threads take calls from it; what is not synchronized is the owner's alone. The owner says
 * for how long it has run calls, in ns.
 */
final class RunQueue {

    /** How much more than the virtual time a lease uses, in ns, before its batches and calls wait. */
    static final long CREDIT = 100_000;

    /** For how long a lease may run, in ns, that has used its credit, when others with credit have nothing to run. */
    static final long STEP = 20_000;

    /** The most time, in ns, that the use of other threads adds to a lease's own between two of its turns here. */
    static final long MOST_AHEAD = 10_000_000;

    /** For how long the thread runs calls, in ns, until a lease that has none here is away. */
    static final long AWAY = 1_000_000;

    /** Time, in ns, of other work beyond that of calls after which waiting ends. */
    private static final long OTHER_WORK = 100_000;

    private static final long NONE = Long.MAX_VALUE;

    private static final class LeaseQueue {

        final LeaseProcedures lease;
        final ArrayDeque<RunningCall> waiting = new ArrayDeque<>();
        /** Nanoseconds used, with a start value that makes it comparable with the other leases' values. */
        long used;
        /** What it had used when it came, or when its calls had run last. */
        long since;
        /** The lease's time as last added to {@code used}. */
        long seen;
        /** How long the thread had run calls when this lease was here last. */
        long lastHere;
        /** Whether it has calls here, and is among the {@code active}. */
        boolean listed;
        /** Whether a batch of it has run since one of its calls from here. */
        boolean batchRan;
        /** Whether one of its calls runs before another batch. */
        boolean callFirst;

        LeaseQueue(LeaseProcedures lease, long used, long seen, long worked) {
            this.lease = lease;
            this.used = used;
            this.since = used;
            this.seen = seen;
            this.lastHere = worked;
        }
    }

    private final LongSupplier clock;
    /** The lines of all leases that have had calls here, until they end. */
    private final IdentityHashMap<LeaseProcedures, LeaseQueue> lines = new IdentityHashMap<>();
    /** The lines that have calls. */
    private final List<LeaseQueue> active = new ArrayList<>();

    private long virtualTime;
    /** The first lease that has run since the virtual time rose, and whether another one has. */
    private @Nullable LeaseQueue firstToRun;

    private boolean othersRan;
    /** As the owner has said last. */
    private long worked;
    /** Written with the lock held; read without it, to decide whether to take the lock. */
    private volatile int size;

    // The owner's alone, of this pass: the least that a lease has used whose batch or call waits, whether the next call
    // may run, and how long the thread had run calls before.
    private long leastWaiting = NONE;
    private boolean mayRun;
    private long workedBefore;
    /** Whether something has waited since the virtual time rose; from when on, and what the thread had worked then. */
    private boolean waiting;

    private long waitingFrom;
    private long workedFrom;

    /** @param clock in ns, as {@link System#nanoTime}; it is read only while something waits */
    RunQueue(LongSupplier clock) {
        this.clock = clock;
    }

    /** Any thread. */
    int size() {
        return size;
    }

    private LeaseQueue line(LeaseProcedures lease, long own) {
        LeaseQueue line = lines.get(lease);
        if (line == null) {
            line = new LeaseQueue(lease, virtualTime, lease.used() - own, worked);
            lines.put(lease, line);
        }
        settle(line, own);
        return line;
    }

    /**
     * Adds what a lease has used since the last call, on other threads. The limit stands still while it waits: if it
     * rose with the virtual time, a lease that uses other threads all the time would never have its turn.
     *
     * @param own what the lease has used just now, on this thread, which is not added
     */
    private void settle(LeaseQueue line, long own) {
        long elsewhere = line.lease.used() - own;
        if (line.listed || worked - own - line.lastHere <= AWAY) {
            line.used = Math.min(line.used + elsewhere - line.seen, line.since + MOST_AHEAD);
        } else {
            line.since = line.used;
        }
        if (line.used < virtualTime) {
            line.used = virtualTime;
            line.since = virtualTime;
        }
        line.seen = elsewhere;
        line.lastHere = worked;
    }

    /** Whether a line has used its credit; then it waits. */
    private boolean isSpent(LeaseQueue line) {
        if (line.used - virtualTime < CREDIT) {
            return false;
        }
        leastWaiting = Math.min(leastWaiting, line.used);
        return true;
    }

    /** Whether a lease's batch waits. Its calls mostly end in it, and never wait here. */
    synchronized boolean waits(LeaseProcedures lease, long worked) {
        this.worked = worked;
        LeaseQueue line = line(lease, 0);
        return isSpent(line) || line.callFirst;
    }

    /** Whether the next call waits. */
    synchronized boolean yields(long worked) {
        this.worked = worked;
        LeaseQueue next = next();
        if (next == null) {
            return false;
        }
        if (isSpent(next)) {
            next.callFirst = next.batchRan;
            return true;
        }
        mayRun = true;
        return false;
    }

    /**
     * The owner has looked at all of its rings, and at the next call, since the last time.
     *
     * @return whether something that waited may run now
     */
    boolean passEnds(long worked) {
        boolean idle = worked == workedBefore && !mayRun;
        long least = leastWaiting;
        workedBefore = worked;
        mayRun = false;
        leastWaiting = NONE;
        if (least == NONE) {
            waiting = false;
            return false;
        }
        if (!idle) {
            long time = clock.getAsLong();
            if (!waiting) {
                waiting = true;
                waitingFrom = time;
                workedFrom = worked;
            }
            if (time - waitingFrom < OTHER_WORK + 2 * (worked - workedFrom)) {
                return false;
            }
        }
        waiting = false;
        rise(least, idle);
        return true;
    }

    private synchronized void rise(long least, boolean idle) {
        long rest = idle && othersRan ? CREDIT - STEP : 0;
        virtualTime = Math.max(virtualTime, least - rest);
        firstToRun = null;
        othersRan = false;
    }

    /**
     * The owner has run calls of a lease for some time, which the lease has been charged for already.
     *
     * @param batch whether these were of a batch, and not from here
     */
    synchronized void ran(LeaseProcedures lease, long nanos, boolean batch, long worked) {
        this.worked = worked;
        if (lease.ended()) {
            // It has been forgotten, or will be.
            return;
        }
        LeaseQueue line = line(lease, nanos);
        line.used += nanos;
        line.seen += nanos;
        line.since = line.used;
        line.batchRan |= batch;
        if (firstToRun == null) {
            firstToRun = line;
        } else {
            othersRan |= line != firstToRun;
        }
    }

    synchronized void add(RunningCall call, LeaseProcedures lease, long worked) {
        this.worked = worked;
        LeaseQueue line = line(lease, 0);
        if (!line.listed) {
            line.listed = true;
            active.add(line);
        }
        line.waiting.addLast(call);
        size++;
    }

    /**
     * Takes the next call.
     *
     * @return null if there is none
     */
    @Nullable
    RunningCall take() {
        return size == 0 ? null : takeNext();
    }

    private synchronized @Nullable RunningCall takeNext() {
        LeaseQueue next = next();
        if (next == null) {
            return null;
        }
        RunningCall call = next.waiting.pollFirst();
        size--;
        taken(next);
        return call;
    }

    /** The line that has used least of those that have calls. */
    private @Nullable LeaseQueue next() {
        LeaseQueue least = null;
        for (int i = 0; i < active.size(); i++) {
            LeaseQueue line = active.get(i);
            settle(line, 0);
            if (least == null || line.used < least.used) {
                least = line;
            }
        }
        return least;
    }

    /** Calls of a line were taken to run. */
    private void taken(LeaseQueue line) {
        line.batchRan = false;
        line.callFirst = false;
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
            firstToRun = firstToRun == line ? null : firstToRun;
        }
    }
}
