package io.farheap.procedure.service;

import io.farheap.lifetime.Closeables;
import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.HeldRegions;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
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

    /**
     * What a call that waits takes: its context, and objects. Contexts of calls that have not been put off are the
     * threads' own.
     */
    static final long CALL_BYTES = CallContext.MEMORY_BYTES + 1024;
    /** What a procedure takes: its class file while it waits, then its class. */
    static final long PROCEDURE_BYTES = 128 << 10;
    /** For so many calls room is borrowed at once. */
    static final int CALLS_BORROWED = 32;
    /**
     * So many calls have room that is not borrowed: however much others have, a lease's calls begin one after another,
     * and one of them may wait.
     */
    static final int OWN_CALLS = 1;
    /** For this time after a loan was refused none is asked for: all threads of a server share its budgets' lock. */
    private static final long REFUSED_NANOS = 1_000_000;

    /** Memory that was lent for a map. */
    record MapLoan(long bytes, AutoCloseable memory) {}

    private final String client;
    private final LongSupplier clock;
    private final HeldRegions.MemoryLender lender;
    /** Calls that there is room for, and all loans for these and for the map. Loans are guarded by this. */
    private volatile int room = OWN_CALLS;

    private final ArrayDeque<AutoCloseable> callLoans = new ArrayDeque<>();
    private @Nullable MapLoan mapLoan;
    /** Whether the last loan for calls was refused, and when. */
    private volatile boolean refused;

    private volatile long refusedAt;

    private final AtomicReferenceArray<@Nullable ServedProcedure> procedures =
            new AtomicReferenceArray<>(CallFormat.SLOTS);
    private final AtomicInteger underWay = new AtomicInteger();
    private final AtomicLong used = new AtomicLong();
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
        this(client, clock, _ -> () -> {});
    }

    /** The same, with memory that is lent to it. */
    LeaseProcedures(String client, LongSupplier clock, HeldRegions.MemoryLender lender) {
        this.client = client;
        this.clock = clock;
        this.lender = lender;
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

    /**
     * Borrows memory for a procedure, which gives it back when it is removed.
     *
     * @return null if the client has as much memory as it may have
     */
    @Nullable
    AutoCloseable lendForProcedure() {
        return lender.lend(PROCEDURE_BYTES);
    }

    /** Adds a procedure, and replaces the one in its slot. */
    void add(ServedProcedure procedure) {
        giveBack(procedures.getAndSet(CallFormat.slot(procedure.id), procedure));
        if (ended) {
            end();
        }
    }

    void remove(int id) {
        ServedProcedure found = find(id);
        if (found != null && procedures.compareAndSet(CallFormat.slot(id), found, null)) {
            giveBack(found);
        }
    }

    private static void giveBack(@Nullable ServedProcedure procedure) {
        if (procedure != null) {
            giveBack(procedure.loan);
        }
    }

    /** Closes a loan, if there is one. */
    static void giveBack(@Nullable AutoCloseable loan) {
        if (loan != null) {
            Closeables.all(loan);
        }
    }

    Uploads upload() {
        return upload;
    }

    LeaseRegionTable map() {
        return map;
    }

    /**
     * Borrows memory for a map of so many regions. If there is none, the map before leaves its own to the next: a map
     * that is no larger can always be replaced, so that regions move although calls have borrowed all memory.
     *
     * @return null if the client has as much memory as it may have
     */
    synchronized @Nullable MapLoan lendForMap(int regions) {
        long bytes = LeaseRegionTable.bytes(regions);
        AutoCloseable lent = lender.lend(bytes);
        if (lent != null) {
            return new MapLoan(bytes, lent);
        }
        MapLoan own = mapLoan;
        if (own == null || own.bytes < bytes) {
            return null;
        }
        mapLoan = null;
        return own;
    }

    /** Replaces the map by one for which nothing was lent. */
    void map(LeaseRegionTable next) {
        map(next, new MapLoan(0, () -> {}));
    }

    /** Replaces the map, and gives back the loan of the one before. */
    synchronized void map(LeaseRegionTable next, MapLoan loan) {
        giveBackMap();
        mapLoan = loan;
        map = next;
        if (ended) {
            end();
        }
    }

    private synchronized void giveBackMap() {
        MapLoan loan = mapLoan;
        mapLoan = null;
        if (loan != null) {
            giveBack(loan.memory);
        }
    }

    /**
     * Whether one more call may begin; it may have to be put off later. Asked before the call runs, since a refused
     * call must not have run. Threads that ask at the same time may exceed the limit by the calls that each begins in
     * one batch.
     *
     * @param begun calls that have begun and have not been put off yet
     */
    boolean mayBegin(int begun) {
        int calls = underWay.get() + begun + 1;
        return calls <= MOST_CALLS && (calls <= room || mayAsk() && borrow(calls));
    }

    private boolean mayAsk() {
        return !refused || clock.getAsLong() - refusedAt >= REFUSED_NANOS;
    }

    /** Borrows room for so many calls in all. */
    private synchronized boolean borrow(int calls) {
        while (calls > room && !ended) {
            AutoCloseable loan = lender.lend(CALLS_BORROWED * CALL_BYTES);
            if (loan == null) {
                refusedAt = clock.getAsLong();
                refused = true;
                return false;
            }
            refused = false;
            callLoans.push(loan);
            room += CALLS_BORROWED;
        }
        return calls <= room;
    }

    /** Gives back a loan of room that no call needs, beside one that is kept for the calls that come next. */
    private synchronized void giveBackRoom() {
        if (mayGiveBack() && !callLoans.isEmpty()) {
            room -= CALLS_BORROWED;
            giveBack(callLoans.pop());
        }
    }

    private boolean mayGiveBack() {
        return underWay.get() < room - 2 * CALLS_BORROWED;
    }

    /** Counts a call that is put off. */
    void putOff() {
        underWay.incrementAndGet();
    }

    void finish() {
        underWay.decrementAndGet();
        if (mayGiveBack()) {
            giveBackRoom();
        }
    }

    /** Adds time that a server thread has worked for the lease's calls, in ns. */
    void used(long time) {
        used.addAndGet(time);
    }

    /** Time of all server threads that the lease has used, by which its calls take turns with those of other leases. */
    long used() {
        return used.get();
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

    /** Ends the lease's procedures: all that it had can be collected, and what it borrowed is given back. */
    synchronized void end() {
        ended = true;
        map = LeaseRegionTable.EMPTY;
        for (int i = 0; i < procedures.length(); i++) {
            giveBack(procedures.getAndSet(i, null));
        }
        giveBackMap();
        room = 0;
        callLoans.forEach(LeaseProcedures::giveBack);
        callLoans.clear();
    }

    boolean ended() {
        return ended;
    }
}
