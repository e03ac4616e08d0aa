/**
 * {@code bench raw}: what Java costs over C. Begin with {@link io.farheap.bench.raw.BenchRawCommand}; sides are
 * {@link io.farheap.bench.raw.RawSide}s.
 */
@NullMarked
package io.farheap.bench.raw;

import org.jspecify.annotations.NullMarked;
