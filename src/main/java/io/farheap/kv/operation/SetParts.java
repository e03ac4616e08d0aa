package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.eviction.AccessRecords;
import io.farheap.kv.eviction.Room;
import io.farheap.kv.space.Counts;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.Operations;
import io.farheap.kv.space.Posts;

/**
 * What a session's requests that store are made of.
 *
 * @param session its number in the map, which makes its versions its own
 */
public record SetParts(
        Operations operations,
        Posts posts,
        Ending ending,
        Doubts doubts,
        Room room,
        Probe probe,
        BlockAllocator allocator,
        Reclaimer reclaimer,
        TakeOut takeOut,
        ValueWriter writer,
        AccessRecords records,
        MapClock clock,
        Counts counts,
        long session) {}
