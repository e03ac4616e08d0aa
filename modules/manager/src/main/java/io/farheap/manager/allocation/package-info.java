/**
 * The choice of a cache's servers, and their cost (Redy, section 6.1): {@link io.farheap.manager.allocation.Allocator}
 * chooses from a {@link io.farheap.manager.allocation.Stock} of servers at the prices of a
 * {@link io.farheap.manager.allocation.Menu}. Servers of coded ranges are chosen by a
 * {@link io.farheap.manager.allocation.RangePlacement}, as a rule within the
 * {@link io.farheap.manager.allocation.CodingGroups} of the cluster. No I/O and no clock: a manager and a simulator get
 * the same answers.
 */
@NullMarked
package io.farheap.manager.allocation;

import org.jspecify.annotations.NullMarked;
