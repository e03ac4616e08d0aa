package io.farheap.procedure.service;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for a slice of one server thread. Leases share its time by what they have used: the one that has
 * used least is next, and one that comes anew begins where that one was (start-time fair queueing; Goyal, Vin, Cheng,
 * SIGCOMM 1996). Thread-safe, as idle threads take from it.
 */
final class RunQueue {

    private static final class LeaseQueue {

        final ArrayDeque<RunningCall> waiting = new ArrayDeque<>();
        /** Nanoseconds, with a start that makes it comparable with the others'. */
        long used;

        boolean listed;
    }

    /** Of all leases that have had calls here lately. */
    private final IdentityHashMap<LeaseProcedures, LeaseQueue> lines = new IdentityHashMap<>();
    /** Those with calls. */
    private final List<LeaseQueue> active = new ArrayList<>();
    /** What the line had used that a call was taken from last: no line that has calls has used less. */
    private long virtualTime;
    /** Written with the lock held; a look at it without tells whether to take the lock. */
    private volatile int size;

    /** Any thread. */
    int size() {
        return size;
    }

    synchronized void add(RunningCall call, LeaseProcedures lease) {
        LeaseQueue line = lines.get(lease);
        if (line == null) {
            line = new LeaseQueue();
            lines.put(lease, line);
        }
        if (!line.listed) {
            // It may be that its only call was being executed: then it has its place still.
            line.used = Math.max(line.used, virtualTime);
            line.listed = true;
            active.add(line);
        }
        line.waiting.addLast(call);
        size++;
    }

    /** @return null where none waits */
    @Nullable
    RunningCall take() {
        return size == 0 ? null : takeNext();
    }

    private synchronized @Nullable RunningCall takeNext() {
        LeaseQueue next = null;
        for (int i = 0; i < active.size(); i++) {
            LeaseQueue line = active.get(i);
            if (next == null || line.used - next.used < 0) {
                next = line;
            }
        }
        if (next == null) {
            return null;
        }
        virtualTime = next.used;
        RunningCall call = next.waiting.pollFirst();
        size--;
        if (next.waiting.isEmpty()) {
            next.listed = false;
            active.remove(next);
        }
        return call;
    }

    /**
     * Takes more calls of a lease that one was just taken of, to run with it in turns.
     *
     * @param into from {@code count} on
     * @return how many there are then
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

    /** A lease has used the thread for so long. */
    synchronized void used(LeaseProcedures lease, long nanos) {
        LeaseQueue line = lines.get(lease);
        if (line != null) {
            line.used += nanos;
        }
    }

    synchronized void forget(LeaseProcedures lease) {
        LeaseQueue line = lines.get(lease);
        if (line != null && !line.listed) {
            lines.remove(lease);
        }
    }
}
