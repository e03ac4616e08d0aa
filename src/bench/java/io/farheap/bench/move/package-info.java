/**
 * What migration, reclaim and resize share: the load, its windows, the check of every record, turns, and figures. Begin
 * with {@link io.farheap.bench.move.MigrationLoad}.
 */
@NullMarked
package io.farheap.bench.move;

import org.jspecify.annotations.NullMarked;
