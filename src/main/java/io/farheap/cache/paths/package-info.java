/**
 * How the requests of a cache's sessions travel: each session is opened, connected and given a data path here, client
 * threads are started, and all of it is changed while the cache is used. It stands on {@code move} (the servers),
 * {@code handover} and {@code session}; begin with {@link io.farheap.cache.paths.CachePaths}, then
 * {@link io.farheap.cache.paths.Reconfiguration}.
 */
@NullMarked
package io.farheap.cache.paths;

import org.jspecify.annotations.NullMarked;
