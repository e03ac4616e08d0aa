package io.farheap.manager.simulator;

import io.farheap.manager.allocation.Allocator;
import io.farheap.manager.allocation.CachePlacement;
import io.farheap.manager.allocation.Need;
import io.farheap.manager.allocation.NoRoomException;
import java.util.List;
import org.HdrHistogram.Histogram;

/** The manager's allocator, with a measurement of its time. One thread at a time. */
final class TimedAllocator {

    private final Allocator allocator;
    private final Histogram nanos = new Histogram(3);
    private long sum;

    TimedAllocator(Allocator allocator) {
        this.allocator = allocator;
    }

    CachePlacement place(Need need) throws NoRoomException {
        long begin = System.nanoTime();
        try {
            return allocator.place(need);
        } finally {
            record(System.nanoTime() - begin);
        }
    }

    CachePlacement more(Need need, long regionBytes, int regions, List<Long> preferred) throws NoRoomException {
        long begin = System.nanoTime();
        try {
            return allocator.more(need, regionBytes, regions, preferred);
        } finally {
            record(System.nanoTime() - begin);
        }
    }

    private void record(long took) {
        nanos.recordValue(took);
        sum += took;
    }

    long count() {
        return nanos.getTotalCount();
    }

    /** Returns calls in a second that is spent in the allocator; refused calls count. */
    double perSecond() {
        return count() * 1e9 / sum;
    }

    double micros(double percentile) {
        return nanos.getValueAtPercentile(percentile) / 1e3;
    }

    double slowestMicros() {
        return nanos.getMaxValue() / 1e3;
    }
}
