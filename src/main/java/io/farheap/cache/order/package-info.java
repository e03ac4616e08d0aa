/**
 * What a request is between issue and callback: its place in the order, where it waits while a region moves, its
 * callback. It stands on {@code contract} alone; begin with {@link io.farheap.cache.order.RequestPath}, which both
 * paths implement, and {@link io.farheap.cache.order.RequestOrder}.
 */
@NullMarked
package io.farheap.cache.order;

import org.jspecify.annotations.NullMarked;
