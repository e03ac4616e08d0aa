package io.farheap.rpc;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The regions that the client of the current call holds. A lease has one such object. But for {@link #hold}, only the
 * thread that executes the call may use it, and only while it executes: a region that the client gives back goes to
 * another client as soon as no server thread is in a call. A handler that {@linkplain Reply#later answers later} copies
 * the bytes it needs before it returns, or continues as the server's work on one of its threads
 * ({@code server.ServerWork}), where the same rule holds for each piece of that work.
 */
public final class HeldRegions {

    private final RegionHolders holders;
    private final long lease;
    private final Long leaseKey;
    private final String client;
    private final Object process;
    private final MemoryLender lender;
    /** Incremented before the thread that clears an entry waits for the server threads, read inside their gates. */
    private final AtomicInteger changes = new AtomicInteger();

    /** Lends memory of a server to a client. */
    @FunctionalInterface
    public interface MemoryLender {

        /**
         * Lends an amount; any thread.
         *
         * @return gives it back when it is closed, which does not throw; null if the client has as much as it may have
         */
        @Nullable
        AutoCloseable lend(long bytes);
    }

    /**
     * The regions of a client process that has one lease alone, and memory without a limit.
     *
     * @param client the client's name, for messages
     */
    public HeldRegions(RegionHolders holders, long lease, String client) {
        this(holders, lease, client, lease, _ -> () -> {});
    }

    /**
     * The regions of a lease.
     *
     * @param client the client's name, for messages
     * @param process see {@link #process}
     * @param lender see {@link #lender}
     */
    public HeldRegions(RegionHolders holders, long lease, String client, Object process, MemoryLender lender) {
        this.holders = holders;
        this.lease = lease;
        this.leaseKey = lease;
        this.client = client;
        this.process = process;
        this.lender = lender;
    }

    /**
     * Enters a region as the client's from now on. The thread that grants the region calls it, before the client learns
     * of the grant.
     *
     * @param region 0 to the number of regions - 1, which no lease holds
     */
    public void hold(int region) {
        holders.hold(region, lease, changes);
    }

    /** Identifies the lease: no two clients of a server have the same one. */
    public long lease() {
        return lease;
    }

    /** The number that {@link #lease} returns, as a key of a map: no object is made for each look. */
    public Long leaseKey() {
        return leaseKey;
    }

    /** The client's name, as it gave it. */
    public String client() {
        return client;
    }

    /** Identifies the client process: equal for all of its leases, and for no other's. */
    public Object process() {
        return process;
    }

    /** Lends memory that handlers keep for the client beyond a call; any thread, also after the call. */
    public MemoryLender lender() {
        return lender;
    }

    public long regionBytes() {
        return holders.regionBytes();
    }

    /**
     * Whether the client holds a region.
     *
     * @param region any number
     */
    public boolean holds(int region) {
        return holders.holds(lease, region);
    }

    /**
     * A region's bytes. Other clients of the same cache, and one-sided operations, read and write them at the same
     * time: an aligned 8-byte word does not tear if it is read by one load.
     *
     * @param region any number, such as one that came as an argument
     * @throws RegionNotHeldException if the client does not hold it; a handler that lets it pass ends the call as
     *     refused
     */
    public MemorySegment region(int region) {
        if (!holders.holds(lease, region)) {
            throw RegionNotHeldException.INSTANCE;
        }
        return holders.segment(region);
    }

    /**
     * A number that changes whenever the client gives a region back. A handler that continues a call which it began in
     * an earlier round of its thread compares it, and if it changed asks again which regions the client holds.
     */
    public int changes() {
        return changes.get();
    }

    /**
     * The address in this process where a region begins; its bytes are contiguous.
     *
     * @param region any number
     * @return 0 if the client does not hold it
     */
    public long address(int region) {
        return holders.holds(lease, region) ? holders.memory().address() + region * holders.regionBytes() : 0;
    }

    /**
     * The offset in the server's memory of a byte of a region.
     *
     * @param region any number
     * @param offset in the region, 0 to {@link #regionBytes} - 1
     * @return -1 if the client does not hold the region
     */
    public long place(int region, long offset) {
        return holders.holds(lease, region) ? region * holders.regionBytes() + offset : -1;
    }

    /** The offset in the server's memory of an address in a region; {@link #address} gives the first of each. */
    public long place(long address) {
        return address - holders.memory().address();
    }

    MemorySegment memory() {
        return holders.memory();
    }
}
