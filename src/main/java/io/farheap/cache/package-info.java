/**
 * Bytes at addresses (Redy, table 1), which a service opens, reads and writes. {@link io.farheap.cache.Cache} creates,
 * configures, moves and deletes a cache; {@link io.farheap.cache.CacheSession} takes its requests.
 *
 * <p>This package contains the types that an application calls and implements. The packages below it do the work;
 * {@link io.farheap.cache.order}, for example, keeps the order of requests. Not here: how bytes get to a server
 * ({@link io.farheap.remote}), where regions are ({@link io.farheap.migration}), which configuration an objective needs
 * ({@link io.farheap.slo}).
 */
@NullMarked
package io.farheap.cache;

import org.jspecify.annotations.NullMarked;
