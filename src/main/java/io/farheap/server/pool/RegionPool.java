package io.farheap.server.pool;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.ByteSize;
import io.farheap.memory.RegisteredMemory;
import io.farheap.memory.SharedMemory;
import io.farheap.posix.PosixException;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import org.agrona.collections.IntArrayList;

/**
 * All of a server's regions: one arena, populated and registered when the server starts, so that a limit on locked
 * memory shows at that time and not at a client's first request. Thread-safe.
 */
public final class RegionPool implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(RegionPool.class.getName());

    private final ProtectionDomain domain;
    private final RegisteredMemory memory;
    private final long regionBytes;
    private final int[] free;
    private int freeCount;
    private volatile boolean zeroLater;
    private final RegionZeroer zeroing;
    /** Regions whose memory has been given to the machine for now. */
    private final IntArrayList withdrawn = new IntArrayList();
    /** Number of regions that are to be withdrawn as they are given back. */
    private int owed;
    /** Number of free regions that are not withdrawn. */
    private int kept;
    /** Withdrawals that were begun, and those of them whose memory the machine has received. */
    private long begun;

    private long withdrawals;
    /** Number of regions that were {@linkplain #expect announced} and are not free yet. */
    private int expected;

    /**
     * @param elastic whether regions may be {@linkplain #owe withdrawn}. Then only the leases' registrations, which end
     *     with the leases, pin the memory, and it has ordinary pages, which other processes can use too
     * @throws IllegalArgumentException if the machine has less memory available
     */
    public RegionPool(Context context, long regionBytes, int regions, boolean elastic) {
        this(context, regionBytes, regions, elastic, task -> {
            Thread thread = new Thread(task, "farheap-zeroing");
            thread.setDaemon(true);
            return thread;
        });
    }

    /** @param threads creates the zeroing thread */
    public RegionPool(Context context, long regionBytes, int regions, boolean elastic, ThreadFactory threads) {
        this.regionBytes = regionBytes;
        domain = context.allocateProtectionDomain();
        try (CloseStack stack = new CloseStack()) {
            stack.add(domain);
            memory = stack.add(allocate(domain, regionBytes * regions, elastic ? regionBytes : 0));
            if (elastic) {
                memory.deregister();
            }
            free = new int[regions];
            for (int id = regions - 1; id >= 0; id--) {
                free[freeCount++] = id;
            }
            // Started last: it fails if the process has as many threads as it may.
            zeroing = new RegionZeroer(this::segment, this::zeroed, threads);
            stack.keep();
        }
    }

    private static RegisteredMemory allocate(ProtectionDomain domain, long bytes, long pieceBytes) {
        SharedMemory shared = SharedMemory.allocateDonated("farheap-regions", bytes, pieceBytes);
        try {
            return RegisteredMemory.register(domain, shared, Access.LOCAL_WRITE);
        } catch (VerbsException e) {
            throw new VerbsException("cannot register " + (bytes >> 20) + " MiB for donation (" + e.getMessage()
                    + "); raise the limit on locked memory (ulimit -l) to twice that, or donate less");
        }
    }

    public long regionBytes() {
        return regionBytes;
    }

    public int total() {
        return free.length;
    }

    public synchronized int freeCount() {
        return freeCount;
    }

    /**
     * Takes free regions.
     *
     * @return {@code count} zeroed regions; throws OUT_OF_MEMORY if there are fewer
     */
    public synchronized int[] take(int count) {
        if (count > freeCount) {
            throw new ControlException(
                    Code.OUT_OF_MEMORY,
                    count + " region(s) of " + ByteSize.text(regionBytes) + " asked for, " + freeCount + " of "
                            + free.length + " free; ask for fewer, or add a memory server");
        }
        int[] taken = new int[count];
        for (int i = 0; i < count; i++) {
            taken[i] = free[--freeCount];
        }
        return taken;
    }

    /**
     * Announces regions that are about to be given back. Called before their lease is forgotten, so that at no moment
     * they are neither held, announced nor free.
     */
    public synchronized void expect(int regions) {
        expected += regions;
    }

    /** Whether all announced regions are free, or withdrawn if regions are owed. */
    public synchronized boolean expectsNone() {
        return expected == 0;
    }

    /**
     * Zeroes a region that was {@linkplain #expect announced} and makes it free, or leaves that to the zeroing thread
     * {@linkplain #zeroLater if no client waits for it}. No device may reach it any more.
     */
    public void giveBack(int id) {
        giveBack(List.of(id));
    }

    /** As {@link #giveBack(int)}; regions that an error prevents from being zeroed are zeroed later. */
    public void giveBack(List<Integer> ids) {
        int done = 0;
        try {
            while (!zeroLater && done < ids.size()) {
                int id = ids.get(done);
                RegionZeroer.zero(segment(id));
                zeroed(id);
                done++;
            }
        } finally {
            if (done < ids.size()) {
                giveBackLater(ids.subList(done, ids.size()));
            }
        }
    }

    private void zeroed(int id) {
        free(id);
        expect(-1);
    }

    /**
     * From now on a thread that gives regions back does not wait until they are zeroed: no client will get them again.
     */
    public void zeroLater() {
        zeroLater = true;
    }

    /** As {@link #giveBack(List)}, on a thread of its own. */
    public void giveBackLater(List<Integer> ids) {
        zeroing.add(ids);
    }

    public RegionZeroer zeroing() {
        return zeroing;
    }

    /** Makes a zeroed region free, or withdraws it if regions are owed. */
    public void free(int id) {
        synchronized (this) {
            if (owed == 0 || freeCount < kept) {
                free[freeCount++] = id;
                return;
            }
            owed--;
            begun++;
        }
        withdraw(id);
    }

    /**
     * How many have been withdrawn; to be read before the free memory from which the number of further withdrawals
     * follows.
     */
    synchronized long withdrawals() {
        return withdrawals;
    }

    /** Cancels all withdrawals that are still owed. */
    synchronized void oweNothing() {
        owed = 0;
    }

    /**
     * Sets how many more regions are to be withdrawn: free ones at once, and others as they are given back. This
     * replaces the number that was owed before. Withdrawals that had not ended at {@code since}, and those begun after
     * it, count toward the new number. One thread at a time.
     *
     * @param since {@link #withdrawals} before the machine's memory was read
     * @param keep how many regions stay free nevertheless, as they are promised; asked with this pool's lock, so that a
     *     report of {@link #wanted} comes either before or after
     * @return how many are still owed
     */
    int owe(int regions, long since, IntSupplier keep) {
        synchronized (this) {
            kept = keep.getAsInt();
            owed = (int) Math.max(0, regions - (begun - since));
        }
        while (true) {
            int id;
            synchronized (this) {
                if (owed == 0 || freeCount <= kept) {
                    return owed;
                }
                id = free[--freeCount];
                owed--;
                begun++;
            }
            withdraw(id);
        }
    }

    /**
     * Returns how many regions are still owed.
     *
     * @param reported receives that number before it can change
     */
    synchronized int wanted(IntConsumer reported) {
        reported.accept(owed);
        return owed;
    }

    private void withdraw(int id) {
        try {
            memory.discard(id * regionBytes, regionBytes);
        } catch (PosixException e) {
            LOG.log(System.Logger.Level.WARNING, "the kernel does not take a region back: " + e.getMessage());
            synchronized (this) {
                free[freeCount++] = id;
                begun--;
            }
            return;
        }
        synchronized (this) {
            withdrawn.addInt(id);
            withdrawals++;
        }
    }

    /**
     * Takes memory for a withdrawn region from the machine, and makes it free.
     *
     * @return false if there is no such region, or the machine has no memory for it: then it stays withdrawn
     */
    boolean restore() {
        int id;
        synchronized (this) {
            if (withdrawn.isEmpty()) {
                return false;
            }
            id = withdrawn.removeAt(withdrawn.size() - 1);
        }
        try {
            memory.populate(id * regionBytes, regionBytes);
        } catch (PosixException e) {
            LOG.log(System.Logger.Level.WARNING, "the kernel has no memory for a region yet: " + e.getMessage());
            synchronized (this) {
                withdrawn.addInt(id);
            }
            return false;
        }
        synchronized (this) {
            free[freeCount++] = id;
        }
        return true;
    }

    public synchronized int withdrawnCount() {
        return withdrawn.size();
    }

    /** All regions, one after another. */
    public MemorySegment memory() {
        return memory.segment();
    }

    public MemorySegment segment(int id) {
        return memory.segment().asSlice(id * regionBytes, regionBytes);
    }

    /** The memory of adjacent regions. */
    public MemorySegment segments(int first, int count) {
        return memory.segment().asSlice(first * regionBytes, count * regionBytes);
    }

    @Override
    public void close() {
        Closeables.all(zeroing, memory, domain);
    }
}
