package io.farheap.verbs.soft;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.verbs.VerbsLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What softverbs' NIC model says and has done in this process; all zero without a model. Any thread.
 *
 * @param operations that the model has timed (all but READs count as late or not)
 * @param late of them, more than 1 us after they were due
 * @param latencyNanos one way, wire to wire
 * @param messageNanos of the NIC's time, for each message
 * @param fetchNanos of a payload that is not inline
 * @param bytePicos of the link, for each byte
 */
public record SoftverbsCounters(
        long operations, long late, long latencyNanos, long messageNanos, long fetchNanos, long bytePicos) {

    private static final int COUNT = 6;
    private static final SoftverbsCounters NONE = new SoftverbsCounters(0, 0, 0, 0, 0, 0);

    /** For benchmarks and people: it allocates. Zeros where the library is another one. */
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

    /** How long the model takes for a WRITE of so many bytes to be seen on the other side, where no NIC is busy. */
    public long writeNanos(long bytes, boolean inline) {
        return (inline ? 0 : fetchNanos) + messageNanos + latencyNanos + bytes * bytePicos / 1000;
    }

    /** The same for a READ, until its bytes are here. */
    public long readNanos(long bytes) {
        return messageNanos + 2 * latencyNanos + bytes * bytePicos / 1000;
    }
}
