/**
 * From an objective to a configuration, and whether the cache meets it, period by period. The package uses {@code slo};
 * begin with {@link io.farheap.cache.objective.Tuning} and {@link io.farheap.cache.objective.SloWatch}.
 */
@NullMarked
package io.farheap.cache.objective;

import org.jspecify.annotations.NullMarked;
