package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.eviction.AccessRecords;
import io.farheap.kv.eviction.SampledEviction;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;

/**
 * What a session's requests that store are made of.
 *
 * @param session its number in the map, which makes its versions its own
 */
public record SetContext(
        RequestColumns operations,
        RequestPoster posts,
        RequestSink ending,
        FailedRequestBlocks doubts,
        SampledEviction room,
        ProbeBuffer probe,
        BlockAllocator allocator,
        Reclaimer reclaimer,
        StaleObjectRemoval takeOut,
        ValueWriter writer,
        AccessRecords records,
        MapClock clock,
        MapSessionCounts counts,
        long session) {}
