/**
 * What a memory server does for leased maps. {@link io.farheap.kv.leased.server.LeasedServices} answers the calls,
 * {@link io.farheap.kv.leased.server.ShardThread} brings each to the thread of its key's shard, and a
 * {@link io.farheap.kv.leased.server.LeasedShard} carries it out: one thread alone reads and changes a shard, so
 * nothing here has a lock on the way of a get or a set.
 */
@NullMarked
package io.farheap.kv.leased.server;

import org.jspecify.annotations.NullMarked;
