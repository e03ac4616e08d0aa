/**
 * Processes that benchmarks start: none outlives the benchmark. What a process does, and what its figures mean, is of
 * the package that asks.
 */
package io.farheap.bench.child;
