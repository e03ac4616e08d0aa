package io.farheap.server.contract;

import io.farheap.control.plane.ControlPlane;
import io.farheap.control.text.PrintableText;
import io.farheap.memory.ByteSize;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.PortOptions;

/**
 * The options of a memory server: the memory that it donates, and how.
 *
 * @param memoryBytes total memory, a multiple of {@code regionBytes}
 * @param regionBytes size of a region: a power of two, at least {@value #MIN_REGION_BYTES} bytes
 * @param leaseNanos how long a client's lease lives without being renewed, {@value #MIN_LEASE_MILLIS} ms to an hour
 * @param device the RDMA device and its port, and how connections leave it
 * @param name for people
 * @param threads how many threads may serve batches, 1 to {@value #MAX_THREADS}; they start when clients need them
 * @param pinned whether each thread runs on a core of its own, if there are more cores than threads
 * @param idle what the threads do while there are no batches
 * @param limits on the resources of clients besides regions
 * @param domain its failure domain, such as its rack: a client does not place two copies in one domain if it must not
 *     lose both. At most {@code ControlPlane.MAX_NAME_LENGTH} printable characters; if empty, the server is a domain of
 *     its own
 * @param procedures which stored procedures it runs
 * @param turns whether calls of procedures take turns
 * @param headroom the memory that it keeps free for its machine
 */
public record ServerOptions(
        long memoryBytes,
        long regionBytes,
        long leaseNanos,
        PortOptions device,
        String name,
        int threads,
        boolean pinned,
        Idle idle,
        ServerLimits limits,
        String domain,
        ServedCode procedures,
        CallInterleaving turns,
        Headroom headroom) {

    /** The smallest region, in bytes. */
    public static final long MIN_REGION_BYTES = 64 * 1024;
    /** The shortest lease, in ms. */
    public static final long MIN_LEASE_MILLIS = 100;
    /** The most regions of a server. */
    public static final int MAX_REGIONS = 1 << 20;
    /** The most threads of a server. */
    public static final int MAX_THREADS = 1024;

    private static final long MAX_LEASE_MILLIS = 3_600_000;

    /** @throws IllegalArgumentException with the value that is wrong, its limit and what to do */
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

    /**
     * With the limits that the device and the machine set, a failure domain of its own, and no headroom.
     *
     * @param device name of an RDMA device, {@code NAME} or {@code NAME:PORT}; empty for the first one that serves
     */
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
                PortOptions.of(device),
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

    /** A copy for this device and port. */
    public ServerOptions device(PortOptions device) {
        return with(device, limits, domain, procedures, turns, headroom);
    }

    /** A copy with these limits. */
    public ServerOptions limits(ServerLimits limits) {
        return with(device, limits, domain, procedures, turns, headroom);
    }

    /** A copy with this failure domain. */
    public ServerOptions domain(String domain) {
        return with(device, limits, domain, procedures, turns, headroom);
    }

    /** A copy that runs these procedures. */
    public ServerOptions procedures(ServedCode procedures) {
        return with(device, limits, domain, procedures, turns, headroom);
    }

    /** A copy with this interleaving of calls. */
    public ServerOptions turns(CallInterleaving turns) {
        return with(device, limits, domain, procedures, turns, headroom);
    }

    /** A copy with this headroom. */
    public ServerOptions headroom(Headroom headroom) {
        return with(device, limits, domain, procedures, turns, headroom);
    }

    private ServerOptions with(
            PortOptions device,
            ServerLimits limits,
            String domain,
            ServedCode procedures,
            CallInterleaving turns,
            Headroom headroom) {
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

    /** How many regions the memory has. */
    public int regions() {
        return (int) (memoryBytes / regionBytes);
    }
}
