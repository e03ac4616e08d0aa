package io.farheap.kv.elastic;

import io.farheap.kv.contract.MapDrain;
import java.util.concurrent.atomic.LongAdder;

/** Totals of the threads of a drain. */
final class DrainTotals {

    final LongAdder objects = new LongAdder();
    final LongAdder moved = new LongAdder();
    final LongAdder movedBytes = new LongAdder();
    final LongAdder evicted = new LongAdder();
    /** Whether a thread has failed, so that the others end soon. */
    volatile boolean failed;

    MapDrain now() {
        // Read first: an object is counted as found before it is counted as moved or evicted.
        long movedSoFar = moved.sum();
        long evictedSoFar = evicted.sum();
        return new MapDrain(objects.sum(), movedSoFar, evictedSoFar, movedBytes.sum());
    }
}
