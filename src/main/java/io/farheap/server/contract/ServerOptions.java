package io.farheap.server.contract;

import io.farheap.control.plane.ControlPlane;
import io.farheap.control.text.PrintableText;
import io.farheap.memory.ByteSize;
import io.farheap.thread.idle.Idle;

/**
 * What a memory server donates, and how.
 *
 * @param memoryBytes all of it, a multiple of {@code regionBytes}
 * @param regionBytes size of a region: a power of two, at least {@value #MIN_REGION_BYTES} bytes
 * @param leaseNanos how long a client's lease lives without being renewed, {@value #MIN_LEASE_MILLIS} ms to an hour
 * @param device an RDMA device's name; empty for the first that serves
 * @param name for people
 * @param threads how many threads may serve batches, 1 to {@value #MAX_THREADS}; they start when clients ask for them
 * @param pinned whether each of them keeps to a core of its own, where there are more cores than threads
 * @param idle what they do while there are no batches
 * @param limits what clients may have besides regions
 * @param domain its failure domain, such as its rack: what clients must not have two servers of where both may not be
 *     lost. At most {@code ControlPlane.MAX_NAME_LENGTH} printable characters; empty: it is one of its own
 * @param procedures whose stored procedures it runs
 * @param turns whether calls of those take turns
 * @param headroom what it keeps free for its machine
 */
public record ServerOptions(
        long memoryBytes,
        long regionBytes,
        long leaseNanos,
        String device,
        String name,
        int threads,
        boolean pinned,
        Idle idle,
        ServerLimits limits,
        String domain,
        ServedCode procedures,
        CallInterleaving turns,
        Headroom headroom) {

    public static final long MIN_REGION_BYTES = 64 * 1024;
    public static final long MIN_LEASE_MILLIS = 100;
    public static final int MAX_REGIONS = 1 << 20;
    public static final int MAX_THREADS = 1024;

    private static final long MAX_LEASE_MILLIS = 3_600_000;

    /** @throws IllegalArgumentException naming the value that is wrong, its limit and what to do */
    public ServerOptions {
        if (!isRegionSize(regionBytes)) {
            throw new IllegalArgumentException("a region of " + ByteSize.text(regionBytes)
                    + "; it must be a power of two, at least " + ByteSize.text(MIN_REGION_BYTES));
        }
        if (memoryBytes < regionBytes || memoryBytes % regionBytes != 0) {
            throw new IllegalArgumentException("memory of " + ByteSize.text(memoryBytes)
                    + "; it must be a multiple of the region size, " + ByteSize.text(regionBytes) + ", and not 0");
        }
        if (memoryBytes / regionBytes > MAX_REGIONS) {
            throw new IllegalArgumentException("memory of " + ByteSize.text(memoryBytes) + " is "
                    + memoryBytes / regionBytes + " regions of " + ByteSize.text(regionBytes) + "; at most "
                    + MAX_REGIONS + " are allowed, so choose larger regions");
        }
        if (leaseNanos < MIN_LEASE_MILLIS * 1_000_000 || leaseNanos > MAX_LEASE_MILLIS * 1_000_000) {
            throw new IllegalArgumentException(
                    "a lease of " + leaseNanos + " ns; it must last " + MIN_LEASE_MILLIS + " ms to an hour");
        }
        if (threads < 1 || threads > MAX_THREADS) {
            throw new IllegalArgumentException(threads + " server threads; there must be 1 to " + MAX_THREADS);
        }
        PrintableText.require("a failure domain", domain, ControlPlane.MAX_NAME_LENGTH);
    }

    /** Whether a region may have so many bytes: a power of two, at least {@link #MIN_REGION_BYTES}. */
    public static boolean isRegionSize(long bytes) {
        return bytes >= MIN_REGION_BYTES && Long.bitCount(bytes) == 1;
    }

    /** With the limits that the device and the machine set, a failure domain of its own, and no headroom. */
    public ServerOptions(
            long memoryBytes,
            long regionBytes,
            long leaseNanos,
            String device,
            String name,
            int threads,
            boolean pinned,
            Idle idle) {
        this(
                memoryBytes,
                regionBytes,
                leaseNanos,
                device,
                name,
                threads,
                pinned,
                idle,
                ServerLimits.DEFAULT,
                "",
                ServedCode.BUILT_IN,
                CallInterleaving.MEASURED,
                Headroom.NONE);
    }

    /** As many threads as the machine has cores, pinned; they sleep while there are no batches. */
    public ServerOptions(long memoryBytes, long regionBytes, long leaseNanos, String device, String name) {
        this(memoryBytes, regionBytes, leaseNanos, device, name, defaultThreads(), true, Idle.PARK);
    }

    /** The same but for the limits. */
    public ServerOptions limits(ServerLimits limits) {
        return with(limits, domain, procedures, turns, headroom);
    }

    /** The same in a failure domain. */
    public ServerOptions domain(String domain) {
        return with(limits, domain, procedures, turns, headroom);
    }

    /** The same, running other procedures. */
    public ServerOptions procedures(ServedCode procedures) {
        return with(limits, domain, procedures, turns, headroom);
    }

    /** The same, with other turns of calls. */
    public ServerOptions turns(CallInterleaving turns) {
        return with(limits, domain, procedures, turns, headroom);
    }

    /** The same with headroom. */
    public ServerOptions headroom(Headroom headroom) {
        return with(limits, domain, procedures, turns, headroom);
    }

    private ServerOptions with(
            ServerLimits limits, String domain, ServedCode procedures, CallInterleaving turns, Headroom headroom) {
        return new ServerOptions(
                memoryBytes,
                regionBytes,
                leaseNanos,
                device,
                name,
                threads,
                pinned,
                idle,
                limits,
                domain,
                procedures,
                turns,
                headroom);
    }

    /** As many as the machine has cores. */
    public static int defaultThreads() {
        return Math.min(MAX_THREADS, Runtime.getRuntime().availableProcessors());
    }

    public int regions() {
        return (int) (memoryBytes / regionBytes);
    }
}
