/**
 * {@code bench cache}: latency and rate of one session. Begin with {@link io.farheap.bench.cache.BenchCacheCommand}.
 */
@NullMarked
package io.farheap.bench.cache;

import org.jspecify.annotations.NullMarked;
