/**
 * Which caches leave which servers: because these leave, or because another costs less. It stands on caches and
 * servers; begin with {@link io.farheap.manager.service.moves.PlannedMoves}; a move that only saves costs is
 * {@link io.farheap.manager.service.moves.CostRebalancer}'s.
 */
@NullMarked
package io.farheap.manager.service.moves;

import org.jspecify.annotations.NullMarked;
