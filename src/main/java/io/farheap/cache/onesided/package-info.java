/**
 * Requests that are cut into READs, WRITEs and atomics, posted and completed. It stands on {@code route} and
 * {@code order}; begin with {@link io.farheap.cache.onesided.SessionEngine}, then
 * {@link io.farheap.cache.onesided.PartPoster}.
 */
@NullMarked
package io.farheap.cache.onesided;

import org.jspecify.annotations.NullMarked;
