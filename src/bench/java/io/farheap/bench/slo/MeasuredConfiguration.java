package io.farheap.bench.slo;

import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Validity;
import io.farheap.slo.Configuration;
import io.farheap.slo.Performance;

/**
 * The figures of a configuration over its turns.
 *
 * @param real the medians of its performances
 * @param latencyNanos average over reads and writes of each turn
 * @param perSecond reads and writes per second together
 * @param coresNanos a cache line's round trip between cores beside each turn, its median
 *     ({@link io.farheap.bench.slo.CoreDistance})
 * @param settled whether its throughput had settled before the first turn that counts
 * @param validity of its turns together
 */
public record MeasuredConfiguration(
        Configuration configuration,
        Performance real,
        Quartiles latencyNanos,
        Quartiles perSecond,
        double coresNanos,
        boolean settled,
        Validity validity) {}
