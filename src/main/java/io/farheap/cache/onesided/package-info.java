/**
 * One-sided requests: they are cut into READs, WRITEs and atomics, posted and completed. The package uses {@code route}
 * and {@code order}; begin with {@link io.farheap.cache.onesided.SessionEngine}, then
 * {@link io.farheap.cache.onesided.PartPoster}.
 */
@NullMarked
package io.farheap.cache.onesided;

import org.jspecify.annotations.NullMarked;
