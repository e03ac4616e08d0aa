package io.farheap.kv.leased.client;

import io.farheap.kv.leased.format.ShardShape;
import io.farheap.memory.PrivateMemory;
import io.farheap.posix.PosixException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The remote pointers of a process to one map's objects, by the hashes of their keys, in off-heap memory of a fixed
 * size. It is cut into parts, each replaced by ARC and used by one thread at a time. A pointer is only a hint: a
 * session that reads its block compares the key. Thread-safe.
 */
public final class LeasedPointers implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(LeasedPointers.class.getName());

    private static final int MOST_PARTS = 64;
    private static final int LEAST_OF_PART = 64;
    /** At how many parts a report looks, at most, and at how many pointers of each. */
    private static final int PARTS_OF_REPORT = 8;

    private static final int LOOKS = 64;

    /** None if no pointers are kept. */
    private final AdaptivePart[] parts;

    private final int mask;
    private final @Nullable PrivateMemory memory;
    private final boolean reports;
    /** The part at which the next report begins to look. */
    private final AtomicInteger next = new AtomicInteger();

    /**
     * Makes a cache; one that keeps no pointers, and a warning, if this process cannot have the memory. A page of it is
     * taken when it is first used.
     *
     * @param pointers how many it holds; 0: none are kept
     * @param reports whether uses are reported
     */
    public LeasedPointers(long pointers, boolean reports) {
        this(pointers, reports, PrivateMemory::allocateSparse);
    }

    /** @param allocator of so many zeroed bytes */
    LeasedPointers(long pointers, boolean reports, LongFunction<PrivateMemory> allocator) {
        this.reports = reports;
        int count = Math.clamp(Long.highestOneBit(Math.max(1, pointers / LEAST_OF_PART)), 1, MOST_PARTS);
        int each = Math.clamp(Math.ceilDiv(pointers, count), 1, AdaptivePart.MOST_POINTERS);
        long bytes = AdaptivePart.bytes(each);
        PrivateMemory allocated = pointers == 0 ? null : allocate(bytes * count, allocator);
        memory = allocated;
        mask = count - 1;
        parts = new AdaptivePart[allocated == null ? 0 : count];
        if (allocated != null) {
            for (int i = 0; i < count; i++) {
                parts[i] = new AdaptivePart(each, allocated.segment().asSlice(i * bytes, bytes));
            }
        }
    }

    private static @Nullable PrivateMemory allocate(long bytes, LongFunction<PrivateMemory> allocator) {
        try {
            return allocator.apply(bytes);
        } catch (IllegalArgumentException | PosixException e) {
            LOG.log(System.Logger.Level.WARNING, "this process keeps no pointers to a leased map's objects", e);
            return null;
        }
    }

    /** Whether it has not been closed, and so takes memory. */
    public boolean holdsMemory() {
        return memory != null && memory.segment().scope().isAlive();
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
        if (parts.length == 0) {
            return false;
        }
        AdaptivePart part = part(hash);
        synchronized (part) {
            return part.find(hash, now, into);
        }
    }

    /** Keeps a key's pointer, unless it has one to a later block. */
    void put(long hash, RemotePointer pointer) {
        if (parts.length == 0) {
            return;
        }
        AdaptivePart part = part(hash);
        synchronized (part) {
            part.put(hash, pointer);
        }
    }

    /** Forgets a key's pointer, if it is to a block of this incarnation or an earlier one. */
    void drop(long hash, long incarnation) {
        if (parts.length == 0) {
            return;
        }
        AdaptivePart part = part(hash);
        synchronized (part) {
            part.drop(hash, incarnation);
        }
    }

    /**
     * Takes uses that were not reported, as {@link AdaptivePart#takeUses}, from some parts, and the next time from the
     * following ones.
     *
     * @return how many there are; 0 if none are reported
     */
    int takeUses(AdaptivePart.ReportedUses into, int most) {
        if (!reports) {
            return 0;
        }
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

    /** Frees the memory. Sessions may use this at that time, and later: it finds and keeps nothing then. */
    @Override
    public void close() {
        for (AdaptivePart part : parts) {
            synchronized (part) {
                part.close();
            }
        }
        if (memory != null) {
            memory.close();
        }
    }
}
