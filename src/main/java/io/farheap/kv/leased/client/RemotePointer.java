package io.farheap.kv.leased.client;

/**
 * Where a key's object is, as a server said: the block, its incarnation and its lengths; and until when this process
 * holds a lease of it. One thread; {@link LeasedPointers} copies it in and out.
 */
final class RemotePointer {

    /** As {@link io.farheap.kv.leased.format.LeasedCalls#place} has it. */
    long place;

    long incarnation;
    int keyBytes;
    int valueBytes;
    /** When the lease ends, by {@link System#nanoTime} of this process. */
    long leasedUntil;
}
