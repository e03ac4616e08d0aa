/**
 * The choice of a cache's servers, and their cost (Redy, section 6.1): {@link io.farheap.manager.allocation.Allocator}
 * chooses from a {@link io.farheap.manager.allocation.Stock} of servers at the prices of a
 * {@link io.farheap.manager.allocation.Menu}. No I/O and no clock: a manager and a simulator get the same answers.
 */
@NullMarked
package io.farheap.manager.allocation;

import org.jspecify.annotations.NullMarked;
