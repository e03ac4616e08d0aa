/**
 * Copies regions between servers by one-sided READs: the end that reads (copy or rebuild of a region, at a client's
 * pace), the end that is read (export, ticket), and connections to other servers. It does not depend on leases; begin
 * with {@link io.farheap.server.pull.RegionFill} and {@link io.farheap.server.pull.RegionExport}.
 */
@NullMarked
package io.farheap.server.pull;

import org.jspecify.annotations.NullMarked;
