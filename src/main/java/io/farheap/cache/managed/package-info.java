/**
 * A cache's dealings with its cache manager: what it was granted, what it tells, and how it follows the manager's
 * alerts off a server. It stands on {@code objective} and the manager's client; begin with
 * {@link io.farheap.cache.managed.ManagedCacheClient}.
 */
@NullMarked
package io.farheap.cache.managed;

import org.jspecify.annotations.NullMarked;
