/**
 * Opens a cache's sessions, connects them and gives them data paths, starts client threads, and replaces all of these
 * while the cache is used. The package uses {@code move} (the servers), {@code handover} and {@code session}; begin
 * with {@link io.farheap.cache.paths.CachePaths}, then {@link io.farheap.cache.paths.Reconfiguration}.
 */
@NullMarked
package io.farheap.cache.paths;

import org.jspecify.annotations.NullMarked;
