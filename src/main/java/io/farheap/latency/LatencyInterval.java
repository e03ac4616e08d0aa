package io.farheap.latency;

import org.HdrHistogram.Histogram;

/** Latencies in ns over one span of time: from the request's issue to its callback. */
public record LatencyInterval(Histogram reads, Histogram writes) {}
