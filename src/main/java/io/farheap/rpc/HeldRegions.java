package io.farheap.rpc;

import java.lang.foreign.MemorySegment;

/**
 * The regions of the client whose call is executed, and of no other. For the thread that executes the call, while it
 * does, and for no other: a region that the client gives back is another's once no server thread is in a call. A
 * handler that {@linkplain Reply#later answers later} copies what it needs before it returns, or goes on as the
 * server's work on one of its threads ({@code server.ServerWork}), where the same holds for each piece of it.
 */
public final class HeldRegions {

    private final RegionHolders holders;
    private final long lease;
    private final String client;

    /** @param client its name, for messages */
    public HeldRegions(RegionHolders holders, long lease, String client) {
        this.holders = holders;
        this.lease = lease;
        this.client = client;
    }

    /** Names the client process: no two have the same at a server. */
    public long lease() {
        return lease;
    }

    /** The client's name, as it gave it. */
    public String client() {
        return client;
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
     * time: aligned 8 bytes do not tear where they are read by one load.
     *
     * @param region any number, such as one that came as an argument
     * @throws RegionNotHeldException where the client does not hold it; who lets it go on ends the call as refused
     */
    public MemorySegment region(int region) {
        if (!holders.holds(lease, region)) {
            throw RegionNotHeldException.INSTANCE;
        }
        return holders.segment(region);
    }

    /**
     * Changes whenever a client has given a region back: what was asked before is to be asked again, by whoever goes on
     * with a call that it began in an earlier round of its thread.
     */
    public int changes() {
        return holders.cleared();
    }

    /**
     * Where a region begins in this process; its bytes follow one another.
     *
     * @param region any number
     * @return 0 where the client does not hold it
     */
    public long address(int region) {
        return holders.holds(lease, region) ? holders.memory().address() + region * holders.regionBytes() : 0;
    }

    /**
     * Where a place is in the server's memory, counted from its beginning.
     *
     * @param region any number
     * @param offset in it, 0 to {@link #regionBytes} - 1
     * @return -1 where the client does not hold the region
     */
    public long place(int region, long offset) {
        return holders.holds(lease, region) ? region * holders.regionBytes() + offset : -1;
    }

    /** The place of an address that {@link #address} has given, or of one in the region that begins there. */
    public long place(long address) {
        return address - holders.memory().address();
    }

    MemorySegment memory() {
        return holders.memory();
    }
}
