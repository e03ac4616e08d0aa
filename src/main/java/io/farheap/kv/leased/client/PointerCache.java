package io.farheap.kv.leased.client;

/**
 * The remote pointers of a process to one map's objects, by the hashes of their keys, in off-heap memory of a fixed
 * size. It is cut into parts, each replaced by ARC and used by one thread at a time. A pointer is only a hint: whoever
 * reads its block compares the key. Thread-safe.
 */
public final class PointerCache {

    private static final int MOST_PARTS = 64;
    private static final int LEAST_OF_PART = 64;

    private final AdaptivePart[] parts;
    private final int mask;

    /** @param pointers how many it holds, at least 1 */
    public PointerCache(long pointers) {
        int count = Math.clamp(Long.highestOneBit(Math.max(1, pointers / LEAST_OF_PART)), 1, MOST_PARTS);
        parts = new AdaptivePart[count];
        mask = count - 1;
        int each = Math.clamp(Math.ceilDiv(pointers, count), 1, AdaptivePart.MOST_POINTERS);
        for (int i = 0; i < count; i++) {
            parts[i] = new AdaptivePart(each);
        }
    }

    private AdaptivePart part(long hash) {
        return parts[(int) (hash >>> 56) & mask];
    }

    /**
     * Looks for a key's pointer, which counts as a use of it.
     *
     * @param into receives the pointer
     * @return whether there is one
     */
    boolean find(long hash, RemotePointer into) {
        AdaptivePart part = part(hash);
        synchronized (part) {
            return part.find(hash, into);
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
     * Takes uses that were not reported, as {@link AdaptivePart#takeUses}, from one part after another.
     *
     * @return how many there are
     */
    int takeUses(AdaptivePart.ReportedUses into, int most) {
        int taken = 0;
        for (AdaptivePart part : parts) {
            synchronized (part) {
                taken = part.takeUses(into, taken, most);
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
