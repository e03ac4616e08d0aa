/**
 * {@code bench search}: the searches for a configuration, in turns, on simulated systems. Begin with
 * {@link io.farheap.bench.search.BenchSearchCommand}.
 */
@NullMarked
package io.farheap.bench.search;

import org.jspecify.annotations.NullMarked;
