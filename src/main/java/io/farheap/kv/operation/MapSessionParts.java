package io.farheap.kv.operation;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.blocks.Reclaimer;
import io.farheap.kv.eviction.AdaptiveRecords;
import io.farheap.kv.eviction.SampledEviction;
import io.farheap.kv.format.BlockChecksum;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.kv.space.RequestPoster;

/**
 * The parts of a session that the steps of its requests share.
 *
 * @param pointers of the process
 * @param versions of the objects that it stores
 * @param checksum of the map's blocks
 */
public record MapSessionParts(
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
        ValueReader reader,
        AdaptiveRecords records,
        MapClock clock,
        MapSessionCounts counts,
        PointerCache pointers,
        VersionNumbers versions,
        BlockChecksum checksum) {}
