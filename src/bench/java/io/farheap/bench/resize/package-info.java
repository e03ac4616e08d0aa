/**
 * {@code bench resize}: how a load is affected by a capacity that changes. Begin with
 * {@link io.farheap.bench.resize.BenchResizeCommand}.
 */
@NullMarked
package io.farheap.bench.resize;

import org.jspecify.annotations.NullMarked;
