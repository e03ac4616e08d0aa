/**
 * Records latencies at a cost that a short operation can bear: all of them or a sample, in HdrHistograms that other
 * threads read. Callers decide which operations to time, and use the figures.
 */
@NullMarked
package io.farheap.latency;

import org.jspecify.annotations.NullMarked;
