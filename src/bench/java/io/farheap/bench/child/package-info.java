/**
 * Processes that benchmarks start: none outlives the benchmark. What a process does, and what its figures mean, is of
 * the package that asks.
 */
@NullMarked
package io.farheap.bench.child;

import org.jspecify.annotations.NullMarked;
