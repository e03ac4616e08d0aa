package io.farheap.bench.peers;

/** What one turn of one peer gave, in ns per operation. */
record Turn(double median, double p99) {}
