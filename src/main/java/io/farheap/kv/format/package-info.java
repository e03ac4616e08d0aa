/**
 * How a map lies in memory and what is said on the wire, byte by byte: slots, buckets, blocks, pieces, size classes,
 * the descriptor, and the calls of services. Clients and {@code kv.service} stand on it, and it on nothing but
 * {@code contract}; begin with {@link io.farheap.kv.format.SpaceShape}, {@link io.farheap.kv.format.SlotWord} and
 * {@link io.farheap.kv.format.BlockFormat}.
 */
@NullMarked
package io.farheap.kv.format;

import org.jspecify.annotations.NullMarked;
