/**
 * Far memory that outlives its servers (Hydra, FAST '22, sections 3 and 4). An address space is divided into ranges. A
 * range has k + r slabs, each a region of a server in a failure domain of its own; split j of each page is in slab j.
 * {@link io.farheap.resilience.CodedSpace} has the slabs, {@link io.farheap.resilience.CodedSession} reads and writes,
 * and {@link io.farheap.resilience.contract.Resilience} says what is promised.
 *
 * <p>This package decides which slab may be read and written, how many splits a request waits for, which splits and
 * slabs are late, void, corrupt or regenerated, and where a new slab is placed. Elsewhere are the arithmetic of codes
 * ({@link io.farheap.coding}), the way of bytes to a server ({@link io.farheap.remote}), and a cache's sessions and
 * callbacks for applications ({@code io.farheap.cache}). docs/design/resilience.md has the protocol.
 */
@NullMarked
package io.farheap.resilience;

import org.jspecify.annotations.NullMarked;
