package io.farheap.measure;

import io.farheap.slo.Configuration;
import io.farheap.slo.Performance;

/**
 * Measures a configuration: switches a cache to it, then reads and writes until the figures are stable. All client
 * threads keep their queues and batches full all the time, which the estimates of omitted points assume.
 */
@FunctionalInterface
public interface Measurement {

    /**
     * @param configuration one that the subject's cores, record size and device allow
     * @return its performance under the subject's mix of reads and writes
     * @throws InterruptedException if the calling thread is interrupted; earlier measurements are kept
     * @throws IllegalStateException if a request failed, or no request completed for a long time
     */
    Performance measure(Configuration configuration) throws InterruptedException;
}
