package io.farheap.kv.leased.client;

import io.farheap.kv.leased.format.ShardShape;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The remote pointers of a process to one map's objects, by the hashes of their keys, in off-heap memory of a fixed
 * size. It is cut into parts, each replaced by ARC and used by one thread at a time. A pointer is only a hint: whoever
 * reads its block compares the key. Thread-safe.
 */
public final class LeasedPointers {

    private static final int MOST_PARTS = 64;
    private static final int LEAST_OF_PART = 64;
    /** At how many parts a report looks, at most, and at how many pointers of each. */
    private static final int PARTS_OF_REPORT = 8;

    private static final int LOOKS = 64;

    private final AdaptivePart[] parts;
    private final int mask;
    /** The part at which the next report begins to look. */
    private final AtomicInteger next = new AtomicInteger();

    /** @param pointers how many it holds, at least 1 */
    public LeasedPointers(long pointers) {
        int count = Math.clamp(Long.highestOneBit(Math.max(1, pointers / LEAST_OF_PART)), 1, MOST_PARTS);
        parts = new AdaptivePart[count];
        mask = count - 1;
        int each = Math.clamp(Math.ceilDiv(pointers, count), 1, AdaptivePart.MOST_POINTERS);
        for (int i = 0; i < count; i++) {
            parts[i] = new AdaptivePart(each);
        }
    }

    /** The keys of one shard are in one part, or in adjacent ones, so that a report finds them together. */
    private AdaptivePart part(long hash) {
        return parts[ShardShape.shard(hash, parts.length)];
    }

    /**
     * Looks for a key's pointer, which counts as a use of it if its lease is not over.
     *
     * @param now by the clock of leases
     * @param into receives the pointer
     * @return whether there is one
     */
    boolean find(long hash, long now, RemotePointer into) {
        AdaptivePart part = part(hash);
        synchronized (part) {
            return part.find(hash, now, into);
        }
    }

    /** Keeps a key's pointer, unless it has one to a later block. */
    void put(long hash, RemotePointer pointer) {
        AdaptivePart part = part(hash);
        synchronized (part) {
            part.put(hash, pointer);
        }
    }

    /** Forgets a key's pointer, if it is to a block of this incarnation or an earlier one. */
    void drop(long hash, long incarnation) {
        AdaptivePart part = part(hash);
        synchronized (part) {
            part.drop(hash, incarnation);
        }
    }

    /**
     * Takes uses that were not reported, as {@link AdaptivePart#takeUses}, from some parts, and the next time from the
     * following ones.
     *
     * @return how many there are
     */
    int takeUses(AdaptivePart.ReportedUses into, int most) {
        int first = next.getAndAdd(PARTS_OF_REPORT);
        int taken = 0;
        for (int i = 0; i < PARTS_OF_REPORT && i < parts.length && taken < most; i++) {
            AdaptivePart part = parts[first + i & mask];
            synchronized (part) {
                taken = part.takeUses(into, taken, most, LOOKS);
            }
        }
        return taken;
    }

    /** How many pointers it holds. */
    public long size() {
        long size = 0;
        for (AdaptivePart part : parts) {
            synchronized (part) {
                size += part.size();
            }
        }
        return size;
    }
}
