/**
 * Bytes at addresses (Redy, table 1): what a service opens, reads and writes. {@link io.farheap.cache.Cache} is a
 * cache's life, {@link io.farheap.cache.CacheSession} its requests: their order, callbacks, blocking calls and futures;
 * its configuration, objective and moves.
 *
 * <p>Here belongs what a request is to its application: its place in the order, its parts, where it waits while a
 * region moves, what is called back. Not here: how bytes get to a server ({@link io.farheap.remote}), where regions are
 * ({@link io.farheap.migration}), which configuration an objective needs ({@link io.farheap.slo}).
 */
@NullMarked
package io.farheap.cache;

import org.jspecify.annotations.NullMarked;
