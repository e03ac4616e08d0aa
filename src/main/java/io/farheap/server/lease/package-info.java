/**
 * Everything that one client holds, and how it ends: leases and their reaper, grants of regions, connections and rings,
 * open spaces, pulls into its regions, and the manager's grants. It stands on pulls, threads, the pool and budgets;
 * begin with {@link io.farheap.server.lease.Leases} for a lease's end, {@link io.farheap.server.lease.ClientLease} for
 * what it holds.
 */
@NullMarked
package io.farheap.server.lease;

import org.jspecify.annotations.NullMarked;
