package io.farheap.bench.peers;

/** What one turn of one peer gave, in ns per operation. */
record PeerTurn(double median, double p99) {}
