package io.farheap.cli;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Random reads and writes of 64-byte lines by one thread; every read is checked against a shadow: the file, overlaid
 * with what was written. The thread waits for each read, one at a time. It does not wait for writes, so that a write
 * that a migration holds delays no other request.
 */
final class DemoLoad implements AutoCloseable {

    static final int LINE_BYTES = 64;

    private static final int WRITES_IN_FLIGHT = 256;
    private static final int READS_PERCENT = 75;
    private static final int UNTIL_PUBLISH = 1024;

    private final CacheSession session;
    private final Buffer buffer;
    private final MemorySegment file;
    private final int lines;
    /** By line: how often it was written; 0 if it still has the file's bytes. */
    private final int[] versions;

    private final boolean[] beingWritten;
    private final SplittableRandom random;
    private final int[] freeSlots = new int[WRITES_IN_FLIGHT];
    private int free;
    private boolean readDone;
    private long mismatches;
    private long failures;
    private long reads;
    private long writes;

    private final AtomicLong operations = new AtomicLong();
    private volatile boolean stopped;

    private final Completion onRead = this::readDone;
    private final Completion onWrite = this::writeDone;

    /** @param file the cache's first content; whole lines of it are used */
    DemoLoad(Cache cache, MemorySegment file, long seed) {
        this.session = cache.openSession();
        this.buffer = cache.allocate((long) (1 + WRITES_IN_FLIGHT) * LINE_BYTES);
        this.file = file;
        this.lines = (int) Math.min(file.byteSize() / LINE_BYTES, Integer.MAX_VALUE - 8);
        this.versions = new int[lines];
        this.beingWritten = new boolean[lines];
        this.random = new SplittableRandom(seed);
        for (int slot = WRITES_IN_FLIGHT - 1; slot >= 0; slot--) {
            freeSlots[free++] = slot;
        }
    }

    /** Runs until {@link #stop}, on the calling thread. An error counts as a failure. */
    void run() {
        try {
            load();
        } catch (RuntimeException e) {
            failures++;
            System.err.println("farheap: the load ended early: " + e);
        }
    }

    private void load() {
        int untilPublish = UNTIL_PUBLISH;
        while (!stopped) {
            int line = random.nextInt(lines);
            if (beingWritten[line]) {
                session.poll();
                continue;
            }
            if (free == 0 || random.nextInt(100) < READS_PERCENT) {
                read(line);
            } else {
                write(line);
            }
            if (--untilPublish == 0) {
                untilPublish = UNTIL_PUBLISH;
                operations.setRelease(reads + writes);
            }
        }
        session.drain();
        operations.setRelease(reads + writes);
        session.release();
    }

    void stop() {
        stopped = true;
    }

    /** Returns operations so far; any thread. */
    long operations() {
        return operations.getAcquire();
    }

    /** Returns reads that did not match the shadow; called after the run. */
    long mismatches() {
        return mismatches;
    }

    /** Returns operations that ended in an error; called after the run. */
    long failures() {
        return failures;
    }

    /** Overlays a piece of the file's content with what was written. */
    void overlay(MemorySegment piece, long address) {
        long firstLine = (address + LINE_BYTES - 1) / LINE_BYTES;
        for (long line = firstLine; line < lines && (line + 1) * LINE_BYTES <= address + piece.byteSize(); line++) {
            int version = versions[(int) line];
            if (version != 0) {
                fill(piece, line * LINE_BYTES - address, (int) line, version);
            }
        }
    }

    @Override
    public void close() {
        session.close();
        buffer.close();
    }

    private void read(int line) {
        readDone = false;
        while (!session.read((long) line * LINE_BYTES, buffer, 0, LINE_BYTES, onRead, line)) {
            session.poll();
        }
        reads++;
        while (!readDone) {
            session.poll();
        }
    }

    private void write(int line) {
        int slot = freeSlots[--free];
        long at = (long) (1 + slot) * LINE_BYTES;
        fill(buffer.segment(), at, line, versions[line] + 1);
        if (!session.write(
                (long) line * LINE_BYTES, buffer, at, LINE_BYTES, onWrite, (long) slot << Integer.SIZE | line)) {
            freeSlots[free++] = slot;
            session.poll();
            return;
        }
        versions[line]++;
        beingWritten[line] = true;
        writes++;
        session.poll();
    }

    private void writeDone(long token, int status) {
        int slot = (int) (token >>> Integer.SIZE);
        freeSlots[free++] = slot;
        beingWritten[(int) token] = false;
        if (status != Status.OK) {
            failures++;
        }
    }

    private void readDone(long line, int status) {
        readDone = true;
        check((int) line, status);
    }

    private void check(int line, int status) {
        if (status != Status.OK) {
            failures++;
            return;
        }
        int version = versions[line];
        MemorySegment read = buffer.segment();
        long differences = 0;
        for (int i = 0; i < LINE_BYTES; i += Long.BYTES) {
            long expected = version == 0
                    ? file.get(JAVA_LONG.withByteAlignment(1), (long) line * LINE_BYTES + i)
                    : word(line, version, i);
            differences |= expected ^ read.get(JAVA_LONG, i);
        }
        if (differences != 0) {
            mismatches++;
        }
    }

    private static void fill(MemorySegment segment, long at, int line, int version) {
        for (int i = 0; i < LINE_BYTES; i += Long.BYTES) {
            segment.set(JAVA_LONG.withByteAlignment(1), at + i, word(line, version, i));
        }
    }

    private static long word(int line, int version, int offset) {
        long mixed = ((long) line << Integer.SIZE | version) * 0x9E3779B97F4A7C15L + offset;
        return (mixed ^ mixed >>> 31) * 0xBF58476D1CE4E5B9L;
    }
}
