package io.farheap.measure;

import io.farheap.slo.Configuration;
import io.farheap.slo.Performance;

/**
 * Measures a configuration: switches a cache to it, and reads and writes for long enough that the figures are stable.
 * All client threads keep their queues and batches full all the time: estimates of what is not measured rely on it.
 */
@FunctionalInterface
public interface Measurement {

    /**
     * @param configuration of the subject's cores, record size and device
     * @return what it does under the subject's mix of reads and writes
     * @throws InterruptedException where the caller is to stop; what was measured before is kept
     */
    Performance measure(Configuration configuration) throws InterruptedException;
}
