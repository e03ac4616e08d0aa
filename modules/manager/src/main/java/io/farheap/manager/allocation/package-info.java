/**
 * The choice of a cache's servers, and their cost (Redy, section 6.1): {@link io.farheap.manager.allocation.Allocator}
 * chooses from a {@link io.farheap.manager.allocation.Stock} of servers at the prices of a
 * {@link io.farheap.manager.allocation.Menu}. A {@link io.farheap.manager.allocation.RangePlacement} chooses servers of
 * coded ranges, as a rule within the {@link io.farheap.manager.allocation.CodingGroups} of the cluster; so far only the
 * simulator calls it. No I/O and no clock: a manager and a simulator get the same answers.
 */
@NullMarked
package io.farheap.manager.allocation;

import org.jspecify.annotations.NullMarked;
