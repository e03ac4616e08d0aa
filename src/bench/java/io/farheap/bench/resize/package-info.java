/**
 * {@code bench resize}: what a load notices of a capacity that changes. Begin with
 * {@link io.farheap.bench.resize.BenchResizeCommand}.
 */
@NullMarked
package io.farheap.bench.resize;

import org.jspecify.annotations.NullMarked;
