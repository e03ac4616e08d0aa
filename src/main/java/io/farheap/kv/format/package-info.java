/**
 * The formats of a map in memory and in calls, byte by byte: slots, buckets, blocks, pieces, size classes, the
 * descriptor, and the calls of services. Clients and {@code kv.service} use it, and it uses {@code contract} alone;
 * begin with {@link io.farheap.kv.format.SpaceShape}, {@link io.farheap.kv.format.SlotWord} and
 * {@link io.farheap.kv.format.BlockFormat}.
 */
@NullMarked
package io.farheap.kv.format;

import org.jspecify.annotations.NullMarked;
