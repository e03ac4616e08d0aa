/**
 * A request between issue and callback: its place in the order, the list in which it waits while a region moves, and
 * its callback. The package uses {@code contract} alone; begin with {@link io.farheap.cache.order.RequestPath}, which
 * the one-sided and the batched path implement, and {@link io.farheap.cache.order.RequestOrder}.
 */
@NullMarked
package io.farheap.cache.order;

import org.jspecify.annotations.NullMarked;
