package io.farheap.server;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.lifetime.Closing;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * All of a server's regions: one arena, populated and registered when the server starts, so that a limit on locked
 * memory shows then and not at a client's first request. Thread-safe.
 */
final class RegionPool implements AutoCloseable {

    private final ProtectionDomain domain;
    private final RegisteredMemory memory;
    private final long regionBytes;
    private final int[] free;
    private int freeCount;
    private volatile boolean zeroLater;
    private final Zeroing zeroing;

    RegionPool(Context context, long regionBytes, int regions) {
        AvailableMemory.require(regionBytes * regions);
        this.regionBytes = regionBytes;
        domain = context.allocateProtectionDomain();
        try {
            memory = RegisteredMemory.allocate(domain, "farheap-regions", regionBytes * regions, Access.LOCAL_WRITE);
        } catch (VerbsException e) {
            domain.close();
            throw new VerbsException("cannot register " + (regionBytes * regions >> 20) + " MiB for donation ("
                    + e.getMessage() + "); raise the limit on locked memory (ulimit -l) to twice that, or donate less");
        } catch (Throwable e) {
            domain.close();
            throw e;
        }
        free = new int[regions];
        for (int id = regions - 1; id >= 0; id--) {
            free[freeCount++] = id;
        }
        zeroing = new Zeroing(this);
    }

    long regionBytes() {
        return regionBytes;
    }

    int total() {
        return free.length;
    }

    synchronized int freeCount() {
        return freeCount;
    }

    /** @return {@code count} zeroed regions; throws OUT_OF_MEMORY where there are fewer */
    synchronized int[] take(int count) {
        if (count > freeCount) {
            throw new ControlException(
                    Code.OUT_OF_MEMORY,
                    count + " region(s) of " + (regionBytes >> 10) + " KiB asked for, " + freeCount + " of "
                            + free.length + " free; ask for fewer, or add a memory server");
        }
        int[] taken = new int[count];
        for (int i = 0; i < count; i++) {
            taken[i] = free[--freeCount];
        }
        return taken;
    }

    /**
     * Zeroes a region and makes it free, or has that done where {@linkplain #zeroLater nobody waits for it}. No device
     * may reach it any more.
     */
    void giveBack(int id) {
        if (zeroLater) {
            giveBackLater(List.of(id));
            return;
        }
        Zeroing.zero(segment(id));
        free(id);
    }

    /** From now on whoever gives regions back does not wait until they are zero: nobody is to get them again. */
    void zeroLater() {
        zeroLater = true;
    }

    /** As {@link #giveBack}, on a thread of its own. */
    void giveBackLater(List<Integer> ids) {
        zeroing.add(ids);
    }

    Zeroing zeroing() {
        return zeroing;
    }

    /** Makes a region free that is zero. */
    synchronized void free(int id) {
        free[freeCount++] = id;
    }

    /** All regions, one after another. */
    MemorySegment memory() {
        return memory.segment();
    }

    MemorySegment segment(int id) {
        return memory.segment().asSlice(id * regionBytes, regionBytes);
    }

    /** Regions that follow one another. */
    MemorySegment segments(int first, int count) {
        return memory.segment().asSlice(first * regionBytes, count * regionBytes);
    }

    @Override
    public void close() {
        Closing.all(zeroing, memory, domain);
    }
}
