package io.farheap.bench.ycsb;

/**
 * The result of a contestant's turn.
 *
 * @param opsPerSecond of all threads
 * @param tally of all threads, including operations that ended after the turn
 * @param allocatedBytes by the threads, on the heap, in the turn
 */
record ContestTurn(double opsPerSecond, ClientCounts tally, long allocatedBytes) {}
