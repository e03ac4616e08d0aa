/**
 * A cache's part in the protocol with its cache manager: its grants, its reports, and how it follows the manager's
 * alerts to leave a server. The package uses {@code objective} and the manager's client; begin with
 * {@link io.farheap.cache.managed.ManagedCacheClient}.
 */
@NullMarked
package io.farheap.cache.managed;

import org.jspecify.annotations.NullMarked;
