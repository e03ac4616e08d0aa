package io.farheap.kv;

/**
 * What a session's requests that store are made of.
 *
 * @param session its number in the map, which makes its versions its own
 */
record SetParts(
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
