/**
 * Which caches leave which servers: because a server leaves, or because another one costs less. It stands on caches and
 * servers; begin with {@link io.farheap.manager.service.moves.PlannedMoves}; moves that only save cost are planned by
 * {@link io.farheap.manager.service.moves.CostRebalancer}.
 */
@NullMarked
package io.farheap.manager.service.moves;

import org.jspecify.annotations.NullMarked;
