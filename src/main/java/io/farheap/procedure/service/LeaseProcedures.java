package io.farheap.procedure.service;

import io.farheap.procedure.format.CallFormat;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** The state of one lease: its procedures, its map, and the number of its calls that wait. Any server thread. */
final class LeaseProcedures {

    /**
     * Most calls of a lease that may be put off; further calls are refused. Several threads that begin calls at the
     * same time may exceed it a little.
     */
    static final int MOST_CALLS = 1024;

    static final int REGISTRATIONS_A_SECOND = 10;
    private static final long SECOND = 1_000_000_000L;

    private final String client;
    private final LongSupplier clock;

    private final AtomicReferenceArray<@Nullable ServedProcedure> procedures =
            new AtomicReferenceArray<>(CallFormat.SLOTS);
    private final AtomicInteger underWay = new AtomicInteger();
    private final LongAdder nanos = new LongAdder();
    /** As {@code nanos}, in which no measurement counts as more than it can have been. */
    private final AtomicLong share = new AtomicLong();
    private final Uploads upload = new Uploads();
    private volatile LeaseRegionTable map = LeaseRegionTable.EMPTY;
    private volatile boolean ended;
    /** Registrations that the lease may make now (a token bucket). Guarded by this. */
    private double tokens = REGISTRATIONS_A_SECOND;

    private long tokensAt;

    /**
     * @param client its name
     * @param clock nanoseconds, as {@link System#nanoTime}
     */
    LeaseProcedures(String client, LongSupplier clock) {
        this.client = client;
        this.clock = clock;
        this.tokensAt = clock.getAsLong();
    }

    String client() {
        return client;
    }

    /** @param id any number */
    @Nullable
    ServedProcedure find(int id) {
        ServedProcedure found = procedures.get(CallFormat.slot(id));
        return found != null && found.id == id ? found : null;
    }

    /** Adds a procedure, and replaces the one in its slot. */
    void add(ServedProcedure procedure) {
        procedures.set(CallFormat.slot(procedure.id), procedure);
        if (ended) {
            end();
        }
    }

    void remove(int id) {
        ServedProcedure found = find(id);
        if (found != null) {
            procedures.compareAndSet(CallFormat.slot(id), found, null);
        }
    }

    Uploads upload() {
        return upload;
    }

    LeaseRegionTable map() {
        return map;
    }

    void map(LeaseRegionTable next) {
        map = next;
    }

    /**
     * Whether one more call may begin; it may have to be put off later. Asked before the call runs, since a refused
     * call must not have run. Threads that ask at the same time may exceed the limit by the calls that each begins in
     * one batch.
     *
     * @param begun calls that have begun and have not been put off yet
     */
    boolean mayBegin(int begun) {
        return underWay.get() + begun < MOST_CALLS;
    }

    /** Counts a call that is put off. */
    void putOff() {
        underWay.incrementAndGet();
    }

    void finish() {
        underWay.decrementAndGet();
    }

    /** Adds time that a server thread has worked for the lease's calls, in ns. */
    void used(long time) {
        used(time, time);
    }

    /**
     * The same for a time that was measured for some calls and counts for others too.
     *
     * @param shared the most that the lease's share of the threads' time is charged for it
     */
    void used(long time, long shared) {
        nanos.add(time);
        share.addAndGet(Math.min(time, shared));
    }

    /** Time of all server threads that the lease has used, by which its calls take turns with those of other leases. */
    long share() {
        return share.get();
    }

    long usedNanos() {
        return nanos.sum();
    }

    /** Whether the lease may register one more procedure now; counts it. */
    synchronized boolean mayRegister() {
        long now = clock.getAsLong();
        tokens = Math.min(REGISTRATIONS_A_SECOND, tokens + (now - tokensAt) * (double) REGISTRATIONS_A_SECOND / SECOND);
        tokensAt = now;
        if (tokens < 1) {
            return false;
        }
        tokens--;
        return true;
    }

    /** Ends the lease's procedures: all that it had can be collected. */
    void end() {
        ended = true;
        map = LeaseRegionTable.EMPTY;
        for (int i = 0; i < procedures.length(); i++) {
            procedures.set(i, null);
        }
    }

    boolean ended() {
        return ended;
    }
}
