package io.farheap.slo;

import org.jspecify.annotations.Nullable;

/**
 * Finds the lower bound of q. It goes up the {@link GridLevels} from 1 to the device's largest queue depth, with one
 * client thread and one-sided operations; the bound is the last depth before the first that does not improve both
 * latency and throughput (Redy, section 4.3). One thread at a time.
 */
final class DepthProbe {

    private final GridLevels depths;
    private int next;
    private @Nullable Performance before;
    private int found;

    DepthProbe(int deviceDepth) {
        depths = new GridLevels(1, deviceDepth);
    }

    /** The next configuration to measure; may be called only while {@link #found} returns 0. */
    Configuration next() {
        return new Configuration(1, 0, 1, depths.get(next));
    }

    void record(Performance performance) {
        if (before != null && !MarginalGain.improvesBoth(before, performance)) {
            found = depths.get(next - 1);
        } else if (next == depths.count() - 1) {
            found = depths.get(next);
        }
        before = performance;
        next++;
    }

    /** The lower bound, 0 until it is known. */
    int found() {
        return found;
    }
}
