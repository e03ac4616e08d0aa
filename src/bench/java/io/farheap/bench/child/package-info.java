/**
 * Processes that benchmarks start: none outlives the benchmark. The meaning of their output belongs to the packages
 * that start them.
 */
@NullMarked
package io.farheap.bench.child;

import org.jspecify.annotations.NullMarked;
