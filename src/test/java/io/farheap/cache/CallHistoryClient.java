package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.Status;
import io.farheap.procedure.CallStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** A session of a {@link CallHistoryTest}: random requests and calls, several at a time, in an order that it checks. */
final class CallHistoryClient implements Runnable {

    private static final int SLOTS = 12;
    /** Bytes of a slot of the buffer: arguments or the value to write, then the result or the value that was read. */
    private static final int SLOT_BYTES = 64;

    private static final int RESULT = 40;

    private final int number;
    private final Cache cache;
    private final CallHistory history;
    private final SplittableRandom random;
    private final int operations;
    private final BooleanSupplier enough;
    private final List<String> problems = new ArrayList<>();
    private final Deque<Integer> free = new ArrayDeque<>();
    private final Deque<HistoryCall> stopped = new ArrayDeque<>();
    /** The value that was last written to this session's own word of each region. */
    private final long[] own = new long[CallHistory.REGIONS];
    /** The value of each word of this session's own range of each region. */
    private final long[] ranged = new long[CallHistory.REGIONS];

    private long values;
    private CacheSession session;
    private Buffer buffer;

    /** Called when an operation has ended, with the value that it read. */
    private interface Ended {
        void with(long value, long responded);
    }

    /** @param enough whether the client may end when it has done this number of operations */
    CallHistoryClient(
            int number,
            Cache cache,
            CallHistory history,
            SplittableRandom random,
            int operations,
            BooleanSupplier enough) {
        this.number = number;
        this.cache = cache;
        this.history = history;
        this.random = random;
        this.operations = operations;
        this.enough = enough;
        for (int slot = 0; slot < SLOTS; slot++) {
            free.add(slot);
        }
    }

    List<String> problems() {
        return problems;
    }

    @Override
    public void run() {
        try (CacheSession opened = cache.openSession();
                Buffer memory = cache.allocate(SLOTS * SLOT_BYTES)) {
            session = opened;
            buffer = memory;
            for (int i = 0; i < operations || !enough.getAsBoolean(); i++) {
                resumeStopped();
                // The logs have a fixed size, so they take no records after the planned number of operations.
                step(random.nextInt(i < operations ? 10 : 8));
                if (random.nextInt(6) == 0) {
                    session.poll();
                }
                if (problems.size() > 5) {
                    return;
                }
            }
            session.drain();
            while (!stopped.isEmpty()) {
                resumeStopped();
                session.drain();
            }
        } catch (RuntimeException e) {
            problems.add("session " + number + ": " + e);
        }
    }

    private void step(int kind) {
        int region = random.nextInt(CallHistory.REGIONS);
        int word = random.nextInt(Histories.WINDOW_WORDS);
        long at = history.words().address(region, word);
        long invoked = System.nanoTime();
        switch (kind) {
            case 0, 1 -> {
                long value = value(word);
                write(kind == 0, at, value, (ignored, responded) -> history.words()
                        .write(region, word, value, invoked, responded));
            }
            case 2, 3 ->
                read(kind == 2, at, (value, responded) -> history.words()
                        .read(region, word, value, invoked, responded));
            case 4, 5 -> {
                // Only this session writes its own word, so it knows the word's value.
                own[region]++;
                write(kind == 4, CallHistory.own(region, number), own[region], (ignored, responded) -> {});
            }
            case 6 -> {
                long expected = own[region];
                read(
                        random.nextBoolean(),
                        CallHistory.own(region, number),
                        (value, responded) -> check("own word of region " + region, expected, value));
            }
            case 7 -> {
                if (random.nextBoolean()) {
                    range(region, random.nextBoolean());
                    return;
                }
                long expected = own[0] + own[1] + own[2];
                int slot = slot();
                arguments(slot, CallHistory.own(0, number), CallHistory.REGIONS, Cluster.REGION_BYTES);
                call(
                        slot,
                        history.sum,
                        at,
                        0,
                        cache.capacity(),
                        3,
                        (value, responded) -> check("sum of own words", expected, value));
            }
            case 8 -> {
                int slot = slot();
                boolean adds = random.nextBoolean();
                long counter = adds ? CallHistory.added(region) : CallHistory.set(region);
                arguments(slot, counter, 1);
                call(slot, adds ? history.add : history.set, counter, counter, 8, 2, (value, responded) -> {
                    if (adds) {
                        history.added(region, value);
                    } else {
                        history.set(region, 0);
                    }
                });
            }
            default -> {
                if (random.nextInt(4) > 0) {
                    return;
                }
                int slot = slot();
                long record = ++values << 8 | number;
                arguments(slot, CallHistory.log(region), record);
                // The call begins at any address; if the log is on another server, it stops there and is resumed.
                call(
                        slot,
                        history.append,
                        at,
                        CallHistory.log(region),
                        32 * 1024,
                        2,
                        (where, responded) -> history.appended(region, where, record));
            }
        }
    }

    /** Adds to the words of this session's own range, or sums them up, in pieces of three words. */
    private void range(int region, boolean adds) {
        int slot = slot();
        arguments(slot, 1);
        ranged[region] += adds ? 1 : 0;
        long expected = CallHistory.RANGE_BYTES / Long.BYTES * (adds ? 1 : ranged[region]);
        long at = (long) slot * SLOT_BYTES;
        while (!session.callRange(
                adds ? history.addToPiece : history.sumOfPiece,
                CallHistory.range(region, number),
                CallHistory.RANGE_BYTES,
                3 * Long.BYTES,
                buffer,
                at,
                8,
                at + RESULT,
                8,
                CallResult.SUM,
                (token, status, code, bytes) -> end(
                        slot,
                        status,
                        CallStatus.DONE,
                        (value, responded) -> check("range of region " + region, expected, value)),
                0)) {
            session.awaitProgress();
        }
    }

    private long value(int word) {
        return (++values * 8 + number + 1) << 4 | word;
    }

    private void check(String what, long expected, long found) {
        if (expected != found) {
            problems.add("session " + number + ": " + what + " is " + found + ", not " + expected);
        }
    }

    private int slot() {
        while (free.isEmpty()) {
            resumeStopped();
            session.awaitProgress();
        }
        return free.poll();
    }

    /**
     * Resumes the calls that have stopped at another server, as far as there is room and no request is in their way.
     */
    private void resumeStopped() {
        for (int i = stopped.size(); i > 0; i--) {
            HistoryCall call = stopped.remove();
            if (!call.resume()) {
                stopped.add(call);
            }
        }
    }

    /** A call that may stop, and the handle by which it continues. */
    private final class HistoryCall implements CallCompletion {

        private final int slot;
        private final Ended ended;
        private long handle;

        HistoryCall(int slot, Ended ended) {
            this.slot = slot;
            this.ended = ended;
        }

        boolean resume() {
            return session.resume(handle, buffer, (long) slot * SLOT_BYTES + RESULT, this, 0);
        }

        @Override
        public void completed(long token, int status, int code, int bytes) {
            end(slot, status, CallStatus.DONE, ended);
        }

        @Override
        public boolean stopped(long token, long itsHandle, long address, int line) {
            handle = itsHandle;
            stopped.add(this);
            return true;
        }
    }

    private void arguments(int slot, long... values) {
        for (int i = 0; i < values.length; i++) {
            buffer.segment().set(JAVA_LONG, (long) slot * SLOT_BYTES + 8L * i, values[i]);
        }
    }

    /** Writes a word by a request, or by a call. */
    private void write(boolean request, long address, long value, Ended ended) {
        int slot = slot();
        if (!request) {
            arguments(slot, address, value);
            call(slot, history.store, address, address, 8, 2, ended);
            return;
        }
        arguments(slot, value);
        long at = (long) slot * SLOT_BYTES;
        while (!session.write(address, buffer, at, 8, (token, status) -> end(slot, status, Status.OK, ended), 0)) {
            session.awaitProgress();
        }
    }

    private void read(boolean request, long address, Ended ended) {
        int slot = slot();
        if (!request) {
            arguments(slot, address);
            call(slot, history.load, address, address, 8, 1, ended);
            return;
        }
        long at = (long) slot * SLOT_BYTES + RESULT;
        while (!session.read(address, buffer, at, 8, (token, status) -> end(slot, status, Status.OK, ended), 0)) {
            session.awaitProgress();
        }
    }

    private void call(int slot, Procedure procedure, long address, long from, long span, int arguments, Ended ended) {
        long at = (long) slot * SLOT_BYTES;
        // Some calls have the whole cache as their footprint.
        boolean whole = random.nextInt(8) == 0;
        while (!session.call(
                procedure,
                address,
                whole ? 0 : from,
                whole ? cache.capacity() : span,
                buffer,
                at,
                8 * arguments,
                at + RESULT,
                8,
                new HistoryCall(slot, ended),
                0)) {
            resumeStopped();
            session.awaitProgress();
        }
    }

    private void end(int slot, int status, int expected, Ended ended) {
        long value = buffer.segment().get(JAVA_LONG, (long) slot * SLOT_BYTES + RESULT);
        if (status == expected) {
            ended.with(value, System.nanoTime());
        } else {
            problems.add("session " + number + ": a request ended as " + Status.describe(status) + ", or a call as "
                    + CallStatus.describe(status));
        }
        free.add(slot);
    }
}
