/**
 * The caches that a manager knows, the clients to which they belong, the quotas of tenants, and the end of caches'
 * time. It stands on servers; begin with {@link io.farheap.manager.service.caches.Caches}, then
 * {@link io.farheap.manager.service.caches.ExpiredCacheReclaimer}.
 */
@NullMarked
package io.farheap.manager.service.caches;

import org.jspecify.annotations.NullMarked;
