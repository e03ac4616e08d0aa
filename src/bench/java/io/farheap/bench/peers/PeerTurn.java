package io.farheap.bench.peers;

/** The result of one turn of one peer, in ns per operation. */
record PeerTurn(double median, double p99) {}
