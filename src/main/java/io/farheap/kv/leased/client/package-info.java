/**
 * What a process does that uses a leased map: {@link io.farheap.kv.leased.client.LeasedSession} carries out requests,
 * by one READ where {@link io.farheap.kv.leased.client.LeasedPointers} has a pointer whose lease holds, and else by a
 * call of the server that has the key's shard.
 */
@NullMarked
package io.farheap.kv.leased.client;

import org.jspecify.annotations.NullMarked;
