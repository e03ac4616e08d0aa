package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.resilience.CodedSession;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.contract.CodedCompletion;
import io.farheap.resilience.contract.CodedStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.jspecify.annotations.Nullable;

/**
 * Readers and one writer of a coded space, each a thread that waits for its request: lines of 64 bytes, pages, and
 * pieces that span pages. Every line contains its number and its version, so readers check each line while the writer
 * writes: it has to be whole, and at least as new as the last write that had ended before the read. The writer keeps a
 * local copy, with which the whole space is compared at the end.
 */
final class CodedDemoLoad implements AutoCloseable {

    static final int LINE_BYTES = 64;

    static final int READERS = 2;
    private static final int MOST_PAGES = 3;
    private static final int CHUNK_BYTES = 1 << 20;
    private static final long HIGHEST_NANOS = TimeUnit.HOURS.toNanos(1);

    private final int pageBytes;
    private final int lines;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment copy;
    /** By line: how many writes have been called back. */
    private final AtomicIntegerArray versions;

    private final List<CodedSession> sessions = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Recorder readNanos = new Recorder(HIGHEST_NANOS, 2);
    private final Recorder writeNanos = new Recorder(HIGHEST_NANOS, 2);
    private final LongAdder reads = new LongAdder();
    private final LongAdder writes = new LongAdder();
    private final AtomicReference<String> trouble = new AtomicReference<>();
    private volatile boolean stopped;

    /**
     * The result of comparing the whole space.
     *
     * @param wrong how many bytes are wrong
     * @param first address of a wrong byte, or -1
     */
    record Verdict(long wrong, long first) {}

    /** Makes the copy and the sessions; nothing is written yet. */
    CodedDemoLoad(CodedSpace space) {
        this.pageBytes = space.resilience().pageBytes();
        this.lines = Math.toIntExact(space.capacity() / LINE_BYTES);
        this.versions = new AtomicIntegerArray(lines);
        this.copy = arena.allocate(space.capacity(), LINE_BYTES);
        try {
            for (int i = 0; i <= READERS; i++) {
                sessions.add(space.openSession());
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /** Writes the whole space. */
    void fill() {
        for (int line = 0; line < lines; line++) {
            put(copy, (long) line * LINE_BYTES, line, 0);
        }
        for (long at = 0; at < copy.byteSize(); at += CHUNK_BYTES) {
            long bytes = Math.min(CHUNK_BYTES, copy.byteSize() - at);
            int status = sessions.getFirst().writeBlocking(at, copy, at, bytes);
            if (status != CodedStatus.OK) {
                throw new IllegalStateException(failure("write", at, bytes, status));
            }
        }
    }

    /** Starts the threads. */
    void start(long seed) {
        SplittableRandom seeds = new SplittableRandom(seed);
        for (int i = 0; i <= READERS; i++) {
            CodedSession session = sessions.get(i);
            SplittableRandom random = seeds.split();
            Runnable work = i == 0 ? () -> write(session, random) : () -> read(session, random);
            String name = i == 0 ? "farheap-demo-writer" : "farheap-demo-reader-" + i;
            threads.add(Thread.ofPlatform().daemon().name(name).start(() -> guarded(work)));
        }
    }

    private void guarded(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException e) {
            failed("the load ended early: " + e);
        }
    }

    private void failed(String how) {
        trouble.compareAndSet(null, how);
    }

    /** Returns the first failure, such as a request that failed or read bytes that were never written; or null. */
    @Nullable
    String trouble() {
        return trouble.get();
    }

    /** Requests so far. */
    long reads() {
        return reads.sum();
    }

    /** Requests so far. */
    long writes() {
        return writes.sum();
    }

    /** How long each read took since the last call, in ns. */
    Histogram readTimes() {
        return readNanos.getIntervalHistogram();
    }

    /** How long each write took since the last call, in ns. */
    Histogram writeTimes() {
        return writeNanos.getIntervalHistogram();
    }

    /**
     * Ends the threads, each after its request.
     *
     * @return false if one of them has not ended by then
     */
    boolean stop(Duration patience) {
        stopped = true;
        try {
            for (Thread thread : threads) {
                if (!thread.join(patience)) {
                    return false;
                }
            }
            return true;
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private void write(CodedSession session, SplittableRandom random) {
        MemorySegment memory = MemorySegment.ofArray(new long[MOST_PAGES * pageBytes / Long.BYTES]);
        while (!stopped && trouble.get() == null) {
            int count = count(random);
            int first = first(random, count);
            for (int i = 0; i < count; i++) {
                put(memory, (long) i * LINE_BYTES, first + i, versions.get(first + i) + 1);
            }
            long at = (long) first * LINE_BYTES;
            long bytes = (long) count * LINE_BYTES;
            long start = System.nanoTime();
            int status = session.writeBlocking(at, memory, 0, bytes);
            writeNanos.recordValue(Math.min(HIGHEST_NANOS, System.nanoTime() - start));
            if (status != CodedStatus.OK) {
                failed(failure("write", at, bytes, status));
                return;
            }
            MemorySegment.copy(memory, 0, copy, at, bytes);
            for (int i = 0; i < count; i++) {
                versions.lazySet(first + i, versions.get(first + i) + 1);
            }
            writes.increment();
        }
    }

    private void read(CodedSession session, SplittableRandom random) {
        MemorySegment memory = MemorySegment.ofArray(new long[MOST_PAGES * pageBytes / Long.BYTES]);
        int[] before = new int[MOST_PAGES * pageBytes / LINE_BYTES];
        while (!stopped && trouble.get() == null) {
            int count = count(random);
            int first = first(random, count);
            for (int i = 0; i < count; i++) {
                before[i] = versions.get(first + i);
            }
            long at = (long) first * LINE_BYTES;
            long bytes = (long) count * LINE_BYTES;
            long start = System.nanoTime();
            int status = session.readBlocking(at, memory, 0, bytes);
            readNanos.recordValue(Math.min(HIGHEST_NANOS, System.nanoTime() - start));
            if (status != CodedStatus.OK) {
                failed(failure("read", at, bytes, status));
                return;
            }
            for (int i = 0; i < count; i++) {
                check(memory, (long) i * LINE_BYTES, first + i, before[i]);
            }
            reads.increment();
        }
    }

    /** Draws a number of lines: one, those of a page, or those of up to three pages. */
    private int count(SplittableRandom random) {
        int linesOfPage = pageBytes / LINE_BYTES;
        int count =
                switch (random.nextInt(4)) {
                    case 0, 1 -> 1;
                    case 2 -> linesOfPage;
                    default -> 1 + random.nextInt(MOST_PAGES * linesOfPage);
                };
        return Math.min(count, lines);
    }

    /** Draws the first line; a piece as long as a page is a whole page. */
    private int first(SplittableRandom random, int count) {
        int linesOfPage = pageBytes / LINE_BYTES;
        int first = random.nextInt(lines - count + 1);
        return count == linesOfPage ? first / linesOfPage * linesOfPage : first;
    }

    /** Checks a line. The writer may have one write of it under way. */
    private void check(MemorySegment memory, long at, int line, int before) {
        long head = memory.get(JAVA_LONG, at);
        int version = (int) head;
        boolean right = (int) (head >>> Integer.SIZE) == line && version >= before && version <= versions.get(line) + 1;
        for (int i = Long.BYTES; i < LINE_BYTES; i += Long.BYTES) {
            right &= memory.get(JAVA_LONG, at + i) == word(head, i);
        }
        if (!right) {
            failed("a read of the 64 bytes at " + (long) line * LINE_BYTES + " returned bytes that were never written, "
                    + "or that had been overwritten before it began");
        }
    }

    private static void put(MemorySegment memory, long at, int line, int version) {
        long head = (long) line << Integer.SIZE | version;
        memory.set(JAVA_LONG, at, head);
        for (int i = Long.BYTES; i < LINE_BYTES; i += Long.BYTES) {
            memory.set(JAVA_LONG, at + i, word(head, i));
        }
    }

    private static long word(long head, int offset) {
        long mixed = head * 0x9E3779B97F4A7C15L + offset;
        return (mixed ^ mixed >>> 31) * 0xBF58476D1CE4E5B9L;
    }

    private static String failure(String what, long at, long bytes, int status) {
        return "a " + what + " of " + bytes + " bytes at " + at + " failed: " + CodedStatus.describe(status);
    }

    /**
     * Compares the whole space with the local copy, up to the first read that fails, which {@link #trouble} then
     * returns. Called after the threads have ended.
     *
     * @param piece bytes of each request: pages, which are read from random servers, or splits, each from its own
     *     server
     */
    Verdict verify(int piece) {
        CodedSession session = sessions.getFirst();
        int[] ended = {CodedStatus.OK};
        CodedCompletion end = (_, status) -> ended[0] = ended[0] == CodedStatus.OK ? status : ended[0];
        long wrong = 0;
        long firstWrong = -1;
        int chunk = Math.max(1, CHUNK_BYTES / piece) * piece;
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment read = confined.allocate(chunk, LINE_BYTES);
            for (long at = 0; at < copy.byteSize(); at += chunk) {
                long bytes = Math.min(chunk, copy.byteSize() - at);
                read.fill((byte) 0);
                for (long done = 0; done < bytes; done += piece) {
                    long length = Math.min(piece, bytes - done);
                    while (!session.read(at + done, read, done, length, end, 0)) {
                        session.poll();
                    }
                }
                session.drain();
                if (ended[0] != CodedStatus.OK) {
                    failed(failure("read", at, bytes, ended[0]));
                    break;
                }
                for (long from = 0; from < bytes; from++) {
                    long same = MemorySegment.mismatch(read, from, bytes, copy, at + from, at + bytes);
                    if (same < 0) {
                        break;
                    }
                    from += same;
                    firstWrong = firstWrong < 0 ? at + from : firstWrong;
                    wrong++;
                }
            }
        }
        return new Verdict(wrong, firstWrong);
    }

    /** A thread whose request has not ended keeps its session and the copy: they end with the process. */
    @Override
    public void close() {
        stopped = true;
        if (threads.stream().anyMatch(Thread::isAlive)) {
            return;
        }
        sessions.forEach(CodedSession::close);
        arena.close();
    }
}
