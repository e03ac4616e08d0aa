package io.farheap.kv.elastic;

import io.farheap.kv.contract.MapDrain;
import java.util.concurrent.atomic.LongAdder;

/** What the threads of a drain have done together. */
final class DrainTotals {

    final LongAdder objects = new LongAdder();
    final LongAdder moved = new LongAdder();
    final LongAdder movedBytes = new LongAdder();
    final LongAdder evicted = new LongAdder();
    /** Whether a thread has failed, so that the others end soon. */
    volatile boolean failed;

    MapDrain now() {
        // What has gone was found before.
        long movedSoFar = moved.sum();
        long evictedSoFar = evicted.sum();
        return new MapDrain(objects.sum(), movedSoFar, evictedSoFar, movedBytes.sum());
    }
}
