package io.farheap.bench.ycsb;

/**
 * What a contestant did in a turn.
 *
 * @param opsPerSecond of all threads
 * @param tally of all threads, also of what ended after the turn
 * @param allocatedBytes by the threads, on the heap, in the turn
 */
record ContestTurn(double opsPerSecond, ClientCounts tally, long allocatedBytes) {}
