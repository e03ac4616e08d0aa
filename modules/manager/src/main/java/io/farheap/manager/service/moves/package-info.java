/**
 * Which caches leave which servers: since these leave, or since another costs less. It stands on caches and servers;
 * begin with {@link io.farheap.manager.service.moves.PlannedMoves}; a move that nobody has to make is
 * {@link io.farheap.manager.service.moves.CostRebalancer}'s.
 */
@NullMarked
package io.farheap.manager.service.moves;

import org.jspecify.annotations.NullMarked;
