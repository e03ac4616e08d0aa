package io.farheap.resilience;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.resilience.contract.CodedStatus;
import io.farheap.resilience.contract.Resilience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One of several sessions that share pages. The lines, of 16 bytes, are divided into runs, which the sessions own in
 * turn. A session writes its own lines, one or several neighbours at a time, and reads any lines: its own must be as it
 * wrote them last, and others' lines must be whole and never older than when it last read them.
 *
 * <p>A line has its owner and place in the first word, and a count in the second.
 */
final class CodedClient {

    private static final int LINE = 16;
    private static final int DEPTH = 12;

    private final CodedSession session;
    private final Resilience resilience;
    private final int own;
    private final int sessions;
    private final int lines;
    private final SplittableRandom random;
    private final long[] written;
    private final long[] seen;
    private final MemorySegment[] memory;
    private final long[] at;
    private final int[] count;
    private final boolean[] writing;
    private final long[][] expected;
    private final boolean[] busy = new boolean[DEPTH];
    private Throwable failure;
    private long operations;

    CodedClient(CodedSession session, Resilience resilience, int own, int sessions, int pages, long seed) {
        this.session = session;
        this.resilience = resilience;
        this.own = own;
        this.sessions = sessions;
        this.random = new SplittableRandom(seed);
        this.lines = pages * resilience.pageBytes() / LINE;
        this.written = new long[lines];
        this.seen = new long[lines];
        int most = 2 * resilience.pageBytes();
        this.memory = new MemorySegment[DEPTH];
        for (int i = 0; i < DEPTH; i++) {
            memory[i] =
                    i % 2 == 0 ? Arena.ofAuto().allocate(most, 8) : MemorySegment.ofArray(new long[most / Long.BYTES]);
        }
        this.at = new long[DEPTH];
        this.count = new int[DEPTH];
        this.writing = new boolean[DEPTH];
        this.expected = new long[DEPTH][];
    }

    private boolean isOwn(int line) {
        return line / run() % sessions == own;
    }

    /** The number of neighbouring lines of one owner, such that runs lie across splits and pages. */
    private int run() {
        return resilience.splitBytes() / LINE * 3 / 2 + 1;
    }

    private long name(int line) {
        return (long) (line + 1) << 8 | line / run() % sessions;
    }

    void run(AtomicBoolean stop) {
        while (!stop.get() && failure == null) {
            int slot = random.nextInt(DEPTH);
            if (!busy[slot] && random.nextInt(3) > 0) {
                begin(slot);
            } else {
                session.poll();
            }
        }
        session.drain();
        if (failure != null) {
            throw new AssertionError("session " + own + " after " + operations + " requests", failure);
        }
    }

    private void begin(int slot) {
        boolean write = random.nextInt(2) == 0;
        int first = random.nextInt(lines);
        int most =
                switch (random.nextInt(4)) {
                    case 0 -> 1;
                    case 1 -> 4;
                    case 2 -> resilience.splitBytes() / LINE;
                    default -> 2 * resilience.pageBytes() / LINE;
                };
        int length = 1 + random.nextInt(most);
        length = Math.min(length, lines - first);
        if (write) {
            while (!isOwn(first)) {
                first = random.nextInt(lines);
            }
            int end = first + 1;
            while (end < lines && end - first < length && isOwn(end)) {
                end++;
            }
            length = end - first;
            for (int i = 0; i < length; i++) {
                memory[slot].set(JAVA_LONG, (long) i * LINE, name(first + i));
                memory[slot].set(JAVA_LONG, (long) i * LINE + 8, ++written[first + i]);
            }
        } else {
            expected[slot] = new long[length];
            for (int i = 0; i < length; i++) {
                expected[slot][i] = isOwn(first + i) ? written[first + i] : seen[first + i];
            }
        }
        busy[slot] = true;
        at[slot] = first;
        count[slot] = length;
        writing[slot] = write;
        long address = (long) first * LINE;
        boolean issued = write
                ? session.write(address, memory[slot], 0, (long) length * LINE, this::ended, slot)
                : session.read(address, memory[slot], 0, (long) length * LINE, this::ended, slot);
        if (!issued) {
            throw new AssertionError("refused");
        }
        operations++;
    }

    private void ended(long token, int status) {
        int slot = (int) token;
        busy[slot] = false;
        try {
            assertEquals("ok", CodedStatus.describe(status));
            if (!writing[slot]) {
                for (int i = 0; i < count[slot]; i++) {
                    check((int) at[slot] + i, expected[slot][i], memory[slot], (long) i * LINE);
                }
            }
        } catch (Throwable e) {
            failure = failure == null ? e : failure;
        }
    }

    private void check(int line, long expectedCount, MemorySegment bytes, long offset) {
        long name = bytes.get(JAVA_LONG, offset);
        long value = bytes.get(JAVA_LONG, offset + 8);
        String where = "line " + line + " of page " + line * LINE / resilience.pageBytes() + ", split "
                + line * LINE % resilience.pageBytes() / resilience.splitBytes() + ": " + Long.toHexString(name) + " "
                + value + ", not " + Long.toHexString(name(line)) + " " + expectedCount;
        if (name != name(line) && (name != 0 || value != 0)) {
            throw new AssertionError("nobody wrote " + where);
        }
        if (isOwn(line) ? value != expectedCount : value < expectedCount) {
            throw new AssertionError("old or wrong " + where);
        }
        seen[line] = Math.max(seen[line], value);
    }
}
