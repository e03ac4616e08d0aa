package io.farheap.soak;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.Buffer;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.procedure.CallStatus;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * Calls procedures, several at a time, by one session after another: some are closed with calls under way. Between
 * sessions a region moves now and then.
 */
final class CallUser implements Runnable {

    private static final int SLOTS = 16;
    private static final int SLOT_BYTES = 64;
    private static final int RESULT = 32;
    private static final int SESSION_CALLS = 5_000;

    private final CallPart part;
    private final String name;
    private final SplittableRandom random;
    private final BooleanSupplier mayBeLost;
    private final BooleanSupplier gone;
    private final WaitTimes waits;
    private final Problems problems;
    private final Deque<Integer> free = new ArrayDeque<>();
    private final long[] issuedAt = new long[SLOTS];
    /** What each slot's call counts, or -1; and the node that it is to come to. */
    private final int[] counter = new int[SLOTS];

    private final long[] expected = new long[SLOTS];
    private boolean lost;
    private boolean closing;
    private volatile boolean stop;
    private volatile long operations;

    CallUser(
            CallPart part,
            int number,
            SplittableRandom random,
            BooleanSupplier mayBeLost,
            BooleanSupplier gone,
            WaitTimes waits,
            Problems problems) {
        this.part = part;
        this.name = "caller " + number;
        this.random = random;
        this.mayBeLost = mayBeLost;
        this.gone = gone;
        this.waits = waits;
        this.problems = problems;
    }

    String name() {
        return name;
    }

    long operations() {
        return operations;
    }

    void stop() {
        stop = true;
    }

    @Override
    public void run() {
        try {
            while (!stop && !problems.any() && !gone.getAsBoolean()) {
                session(1 + random.nextInt(SESSION_CALLS), random.nextBoolean());
                if (!stop && random.nextInt(2) == 0) {
                    part.move(random);
                }
            }
        } catch (CacheException e) {
            if (!mayBeLost.getAsBoolean()) {
                problems.add(name + ": no fault excuses this", e);
            }
        } catch (Throwable e) {
            problems.add(name, e);
        }
    }

    private void session(int calls, boolean drained) {
        free.clear();
        for (int slot = 0; slot < SLOTS; slot++) {
            free.add(slot);
        }
        lost = false;
        closing = false;
        try (Buffer buffer = part.cache().allocate(SLOTS * SLOT_BYTES);
                CacheSession session = part.cache().openSession()) {
            for (int i = 0; i < calls && !stop && !lost; i++) {
                while (free.isEmpty()) {
                    session.awaitProgress();
                }
                issue(session, buffer, free.remove());
            }
            if (drained) {
                session.drain();
            }
            closing = true;
        }
    }

    private void issue(CacheSession session, Buffer buffer, int slot) {
        long at = (long) slot * SLOT_BYTES;
        boolean counts = random.nextInt(4) != 0;
        int node = random.nextInt(CallPart.NODES);
        int hops = random.nextInt(30);
        counter[slot] = counts ? random.nextInt(part.counters()) : -1;
        expected[slot] = part.node((node + hops) % CallPart.NODES);
        long address = counts ? part.counter(counter[slot]) : part.node(node);
        buffer.segment().set(JAVA_LONG, at, address);
        buffer.segment().set(JAVA_LONG, at + 8, 0);
        buffer.segment().set(JAVA_LONG, at + 16, hops);
        issuedAt[slot] = System.nanoTime();
        while (!session.call(
                counts ? part.countUp() : part.chase(),
                address,
                buffer,
                at,
                counts ? 8 : 24,
                at + RESULT,
                16,
                (token, status, code, bytes) -> ended((int) token, status, buffer),
                slot)) {
            session.awaitProgress();
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // One thread writes it.
    private void ended(int slot, int status, Buffer buffer) {
        operations++;
        free.add(slot);
        waits.request(name, System.nanoTime() - issuedAt[slot]);
        switch (status) {
            case CallStatus.DONE -> {
                if (counter[slot] >= 0) {
                    part.counted(counter[slot]);
                    return;
                }
                long found = buffer.segment().get(JAVA_LONG, (long) slot * SLOT_BYTES + RESULT);
                if (found != expected[slot]) {
                    problems.add(name + ": a chase came to " + found + ", not to " + expected[slot]);
                }
            }
            case CallStatus.LOST, CallStatus.INCOMPLETE -> {
                lost = true;
                if (counter[slot] >= 0) {
                    part.unknown(counter[slot]);
                }
                excuse("is lost");
            }
            case CallStatus.REFUSED -> excuse("is refused");
            case CallStatus.UNREACHABLE -> {
                lost = true;
                excuse("is unreachable");
            }
            default -> problems.add(name + ": a call ended with " + CallStatus.describe(status));
        }
    }

    private void excuse(String what) {
        if (!closing && !mayBeLost.getAsBoolean()) {
            problems.add(name + ": a call " + what + ", and no fault excuses it");
        }
    }
}
