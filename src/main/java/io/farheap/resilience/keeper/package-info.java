/**
 * A space's background thread: it notices lost servers, judges the others by their errors, regenerates, places and
 * moves slabs, and reports health. It stands on the table and on a session's connections; begin with
 * {@link io.farheap.resilience.keeper.SlabKeeper}, then {@link io.farheap.resilience.keeper.SlabRebuild}.
 */
@NullMarked
package io.farheap.resilience.keeper;

import org.jspecify.annotations.NullMarked;
