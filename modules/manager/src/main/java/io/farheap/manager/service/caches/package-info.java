/**
 * The caches that a manager knows, whose they are, what tenants may have, and how their time ends. It stands on
 * servers; begin with {@link io.farheap.manager.service.caches.Caches}, then
 * {@link io.farheap.manager.service.caches.ExpiredCacheReclaimer}.
 */
@NullMarked
package io.farheap.manager.service.caches;

import org.jspecify.annotations.NullMarked;
