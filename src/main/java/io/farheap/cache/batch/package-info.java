/**
 * Requests that travel in batches over message rings, and the order between these and the one-sided ones. The package
 * uses {@code onesided}; begin with {@link io.farheap.cache.batch.SessionBatches}.
 */
@NullMarked
package io.farheap.cache.batch;

import org.jspecify.annotations.NullMarked;
