package io.farheap.cache;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * One thread with one session that reads and writes random ranges, several at a time, records their histories, and
 * checks its own order: overlapping requests are called back in the order of issue, and a read that returns one of its
 * session's own values returns the last one that was issued before it.
 */
public final class HistoryClient implements Runnable {

    private static final int IN_FLIGHT = 8;
    private static final int ID_SHIFT = 40;
    private static final int SEQUENCE_SHIFT = 4;
    private static final long UNKNOWN = -1;
    /**
     * Fills the destination of a read before the read: in a history it shows as a value that was never written, with
     * the read whose destination it was put into.
     */
    private static final long POISON = 0xDEADL << 48;

    private final class Request implements Completion {
        final int slot;
        boolean write;
        int window;
        int first;
        int words;
        /** The value that the request writes, without the word's number. */
        long value;

        long invoked;
        long issue;
        MemorySegment heap;
        boolean manyRecords;
        /** The session's own last value of each word when the request was issued. */
        final long[] own = new long[Histories.WINDOW_WORDS];

        boolean outstanding;

        Request(int slot) {
            this.slot = slot;
        }

        @Override
        public void completed(long token, int status) {
            long responded = System.nanoTime();
            if (!outstanding) {
                problems.add(this + " was called back twice");
            }
            outstanding = false;
            if (mayLose && (status == Status.LOST || status == Status.UNKNOWN || status == Status.UNREACHABLE)) {
                lost(status, responded);
                return;
            }
            if (status != Status.OK) {
                problems.add(this + " ended with " + Status.describe(status));
                return;
            }
            checkOrder();
            for (int i = 0; i < words; i++) {
                long there = word(i);
                if (write) {
                    histories.write(window, first + i, value(i), invoked, responded);
                    if (there != value(i)) {
                        problems.add(this + " has " + Long.toHexString(there) + " in word " + i + " of what it wrote");
                    }
                } else {
                    histories.read(window, first + i, there, invoked, responded);
                    if (there >>> ID_SHIFT == id && there != own[i] && own[i] != UNKNOWN && !mayBeLost(own[i])) {
                        problems.add(this + " returned its session's " + Long.toHexString(there) + " in word " + i
                                + "; the last one issued before it was " + Long.toHexString(own[i]));
                    }
                }
            }
        }

        long word(int i) {
            return heap == null
                    ? buffer.segment().get(JAVA_LONG, offset(slot) + (long) i * Long.BYTES)
                    : heap.get(JAVA_LONG, (long) i * Long.BYTES);
        }

        /** @return the value of a word, which differs for every word of a window: a torn or misplaced word shows */
        long value(int i) {
            return value | first + i;
        }

        void fill() {
            for (int i = 0; i < words; i++) {
                long with = write ? value(i) : POISON | value(i);
                if (heap == null) {
                    buffer.segment().set(JAVA_LONG, offset(slot) + (long) i * Long.BYTES, with);
                } else {
                    heap.set(JAVA_LONG, (long) i * Long.BYTES, with);
                }
            }
        }

        @Override
        public String toString() {
            return "the " + (manyRecords ? "many-record " : "") + (write ? "write " : "read ") + Long.toHexString(value)
                    + " of " + words + " words at " + histories.address(window, first)
                    + (heap == null ? " (slot " + slot + ", " : " (on the heap, ") + cache.configuration() + ")";
        }

        /** A record of a request for many may be lost long before all of them have ended. */
        private boolean mayBeLost(long written) {
            long value = written & -1L << SEQUENCE_SHIFT;
            return mayLose
                    && requests.stream()
                            .anyMatch(other ->
                                    other.outstanding && other.write && other.manyRecords && other.value == value);
        }

        /**
         * A write that was lost may have taken effect, or may do so at any time; one whose outcome is unknown has taken
         * effect by now, or never will; one that was unreachable has not.
         */
        private void lost(int status, long responded) {
            losses++;
            for (int i = 0; write && i < words; i++) {
                if (status == Status.LOST) {
                    histories.write(window, first + i, value(i), invoked, Long.MAX_VALUE);
                } else if (status == Status.UNKNOWN) {
                    histories.attempt(window, first + i, value(i), invoked, responded);
                }
                lastOwn[window][first + i] = UNKNOWN;
                for (Request other : requests) {
                    if (other.window == window && first + i >= other.first) {
                        other.own[first + i - other.first] = UNKNOWN;
                    }
                }
            }
        }

        private void checkOrder() {
            for (Request other : requests) {
                if (other.outstanding
                        && !other.manyRecords
                        && other.issue < issue
                        && other.window == window
                        && other.first < first + words
                        && first < other.first + other.words) {
                    problems.add("a request was called back before an earlier one that it overlaps");
                }
            }
        }
    }

    private final long id;
    private final Cache cache;
    private final Histories histories;
    private final SplittableRandom random;
    private final int operations;
    private final BooleanSupplier enough;
    private final List<Request> requests = new ArrayList<>();
    private final long[][] lastOwn;
    private final List<String> problems = new ArrayList<>();
    private CacheSession session;
    private Buffer buffer;
    private long sequence;
    private final boolean mayLose;
    private int losses;

    /**
     * @param id a number from 1 that distinguishes this client's values from those of others
     * @param operations the least number of operations
     * @param enough whether the changes of the cache have happened; the client continues until then
     * @param mayLose whether connections fail
     */
    public HistoryClient(
            int id,
            Cache cache,
            Histories histories,
            long seed,
            int operations,
            BooleanSupplier enough,
            boolean mayLose) {
        this.id = id;
        this.mayLose = mayLose;
        this.cache = cache;
        this.histories = histories;
        this.random = new SplittableRandom(seed);
        this.operations = operations;
        this.enough = enough;
        this.lastOwn = new long[histories.windows()][Histories.WINDOW_WORDS];
        for (int slot = 0; slot < IN_FLIGHT; slot++) {
            requests.add(new Request(slot));
        }
    }

    /** @return the problems that were found; called after the run */
    public List<String> problems() {
        return problems;
    }

    /** @return how many requests were lost; called after the run */
    int losses() {
        return losses;
    }

    /** Opens another session now and then, and always after a loss. */
    @Override
    public void run() {
        try (Buffer allocated = cache.allocate((long) IN_FLIGHT * Histories.WINDOW_BYTES)) {
            buffer = allocated;
            for (int done = 0; done < operations || !enough.getAsBoolean(); ) {
                try (CacheSession opened = cache.openSession()) {
                    session = opened;
                    done += run(1 + random.nextInt(operations / 4));
                }
            }
        } catch (RuntimeException e) {
            problems.add(e.toString());
        }
    }

    /** @return how many requests were issued */
    private int run(int most) {
        int issued = 0;
        int lossesBefore = losses;
        for (; issued < most && losses == lossesBefore; issued++) {
            issue(freeRequest());
            if (random.nextInt(4) == 0) {
                session.poll();
            }
            if (random.nextInt(64) == 0) {
                session.drain();
            }
        }
        session.drain();
        return issued;
    }

    private Request freeRequest() {
        while (true) {
            for (Request request : requests) {
                if (!request.outstanding) {
                    return request;
                }
            }
            session.awaitProgress();
        }
    }

    private void issue(Request request) {
        request.write = random.nextInt(3) == 0;
        request.window = random.nextInt(histories.windows());
        request.first = random.nextInt(Histories.WINDOW_WORDS);
        request.words = 1 + random.nextInt(Histories.WINDOW_WORDS - request.first);
        request.issue = ++sequence;
        request.value = id << ID_SHIFT | sequence << SEQUENCE_SHIFT;
        long bytes = (long) request.words * Long.BYTES;
        request.manyRecords = false;
        request.heap = random.nextInt(4) == 0 ? MemorySegment.ofArray(new long[request.words]) : null;
        request.fill();
        for (int i = 0; i < request.words; i++) {
            request.own[i] = lastOwn[request.window][request.first + i];
            if (request.write) {
                lastOwn[request.window][request.first + i] = request.value(i);
            }
        }
        request.outstanding = true;
        request.invoked = System.nanoTime();
        long address = histories.address(request.window, request.first);
        if (random.nextInt(4) == 0) {
            postBlocking(request, address, bytes);
        } else {
            while (!post(request, address, bytes)) {
                session.awaitProgress();
            }
        }
    }

    private boolean post(Request request, long address, long bytes) {
        if (request.heap != null) {
            return request.write
                    ? session.write(address, request.heap, request, 0)
                    : session.read(address, request.heap, request, 0);
        }
        request.manyRecords = random.nextInt(3) == 0;
        if (request.manyRecords) {
            return postRecords(request, address);
        }
        return request.write
                ? session.write(address, buffer, offset(request.slot), bytes, request, 0)
                : session.read(address, buffer, offset(request.slot), bytes, request, 0);
    }

    /** Posts the request as one for many records, each of one to eight words. */
    private boolean postRecords(Request request, long address) {
        int words = 1 << random.nextInt(1 + Integer.numberOfTrailingZeros(request.words));
        int length = words * Long.BYTES;
        long[] addresses = new long[request.words / words];
        Arrays.setAll(addresses, i -> address + (long) i * length);
        return request.write
                ? session.writeAll(addresses, addresses.length, buffer, offset(request.slot), length, request, 0)
                : session.readAll(addresses, addresses.length, buffer, offset(request.slot), length, request, 0);
    }

    private void postBlocking(Request request, long address, long bytes) {
        if (random.nextBoolean()) {
            // If nothing else is pending, a blocking request takes a way of its own.
            session.drain();
        }
        request.outstanding = true;
        int status = Status.OK;
        try {
            if (request.heap != null && request.write) {
                session.writeBlocking(address, request.heap);
            } else if (request.heap != null) {
                session.readBlocking(address, request.heap);
            } else if (request.write) {
                session.writeBlocking(address, buffer, offset(request.slot), bytes);
            } else {
                session.readBlocking(address, buffer, offset(request.slot), bytes);
            }
        } catch (CacheException e) {
            status = e.status();
        }
        request.completed(0, status);
    }

    private static long offset(int slot) {
        return (long) slot * Histories.WINDOW_BYTES;
    }
}
