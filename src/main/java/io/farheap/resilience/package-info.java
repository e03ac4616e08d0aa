/**
 * Far memory that outlives its servers (Hydra, FAST '22, sections 3 and 4). An address space is divided into ranges; a
 * range has k + r slabs, each a region of a server in a failure domain of its own; of each page, split j is in slab j.
 * {@link io.farheap.resilience.CodedSpace} has the slabs, {@link io.farheap.resilience.CodedSession} reads and writes,
 * {@link io.farheap.resilience.contract.Resilience} says what is promised.
 *
 * <p>Here belongs which slab may be read and written, how many splits a request waits for, what is late, void, corrupt
 * or regenerated, and where a new slab is placed. Not here: arithmetic of codes ({@link io.farheap.coding}), how bytes
 * get to a server ({@link io.farheap.remote}), a cache's sessions and callbacks for applications
 * ({@code io.farheap.cache}). docs/design/resilience.md has the protocol.
 */
@NullMarked
package io.farheap.resilience;

import org.jspecify.annotations.NullMarked;
