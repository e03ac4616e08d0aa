/**
 * Recording latencies at a cost that a short operation can bear: sampled or all, in HdrHistograms that other threads
 * read. What is timed, and what is done with the figures, belongs elsewhere.
 */
@NullMarked
package io.farheap.latency;

import org.jspecify.annotations.NullMarked;
