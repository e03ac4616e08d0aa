/**
 * Bytes at addresses (Redy, table 1): what a service opens, reads and writes. {@link io.farheap.cache.Cache} is a
 * cache's life, with its configuration, objective and moves; {@link io.farheap.cache.CacheSession} takes its requests.
 *
 * <p>This package is the face: what an application calls and implements. The rooms below it do the work, of which
 * {@link io.farheap.cache.order} has a request's place in the order. Not here: how bytes get to a server
 * ({@link io.farheap.remote}), where regions are ({@link io.farheap.migration}), which configuration an objective needs
 * ({@link io.farheap.slo}).
 */
@NullMarked
package io.farheap.cache;

import org.jspecify.annotations.NullMarked;
