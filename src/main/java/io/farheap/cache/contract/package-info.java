/**
 * Types that requests share with the application: how requests travel and end, the callbacks of requests that have
 * ended, and counts. The package uses no other of the cache's; begin with {@link io.farheap.cache.contract.Completion}
 * and {@link io.farheap.cache.contract.Status}.
 */
@NullMarked
package io.farheap.cache.contract;

import org.jspecify.annotations.NullMarked;
