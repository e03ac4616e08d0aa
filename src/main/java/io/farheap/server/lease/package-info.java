/**
 * All resources that one client holds, and their end: leases and their reaper, grants of regions, connections and
 * rings, open spaces, pulls into its regions, and the manager's grants. It uses pulls, threads, the pool and budgets;
 * begin with {@link io.farheap.server.lease.Leases} for the end of a lease, and
 * {@link io.farheap.server.lease.ClientLease} for its resources.
 */
@NullMarked
package io.farheap.server.lease;

import org.jspecify.annotations.NullMarked;
