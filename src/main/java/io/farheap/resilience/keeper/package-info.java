/**
 * A space's background: servers that are lost are noticed, others judged by their errors, void slabs regenerated,
 * placed and moved, and health told. It stands on the table and on a session's connections; begin with
 * {@link io.farheap.resilience.keeper.SlabKeeper}, then {@link io.farheap.resilience.keeper.SlabRebuild}.
 */
@NullMarked
package io.farheap.resilience.keeper;

import org.jspecify.annotations.NullMarked;
