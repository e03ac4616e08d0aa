package io.farheap.verbs.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The parameters of softverbs' NIC model, and what it has timed in this process; all zero without a model. Any thread
 * may use it.
 *
 * @param operations how many operations other than READs the model has timed; READs cannot be judged
 * @param late how many of these were executed more than 1 us after they were due
 * @param latencyNanos one way, wire to wire
 * @param messageNanos time of the NIC for each message
 * @param fetchNanos time to fetch a payload that is not inline
 * @param bytePicos time of the link for each byte, in ps
 */
public record SoftverbsCounters(
        long operations, long late, long latencyNanos, long messageNanos, long fetchNanos, long bytePicos) {

    private static final int COUNT = 6;
    private static final SoftverbsCounters NONE = new SoftverbsCounters(0, 0, 0, 0, 0, 0);

    /** Reads the counters, for benchmarks and reports, since it allocates. All are 0 if the library is another one. */
    public static SoftverbsCounters now(VerbsLibrary library) {
        if (library != VerbsLibrary.SOFT) {
            return NONE;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment numbers = arena.allocate(JAVA_LONG, COUNT);
            SoftverbsCalls.model(numbers);
            return new SoftverbsCounters(
                    numbers.getAtIndex(JAVA_LONG, 0),
                    numbers.getAtIndex(JAVA_LONG, 1),
                    numbers.getAtIndex(JAVA_LONG, 2),
                    numbers.getAtIndex(JAVA_LONG, 3),
                    numbers.getAtIndex(JAVA_LONG, 4),
                    numbers.getAtIndex(JAVA_LONG, 5));
        }
    }

    /** Whether a model is on. */
    public boolean modelled() {
        return bytePicos > 0;
    }

    /** How long the model takes until a WRITE of so many bytes is visible on the other side, if no NIC is busy. */
    public long writeNanos(long bytes, boolean inline) {
        return (inline ? 0 : fetchNanos) + messageNanos + latencyNanos + bytes * bytePicos / 1000;
    }

    /** How long the model takes until the bytes of a READ have arrived here, if no NIC is busy. */
    public long readNanos(long bytes) {
        return messageNanos + 2 * latencyNanos + bytes * bytePicos / 1000;
    }
}
