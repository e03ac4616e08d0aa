package io.farheap.server.budget;

import io.farheap.server.contract.ServerLimits;
import io.farheap.verbs.DeviceLimits;

/**
 * The budgets of a server. Regions need none: there are as many as the memory has, and each has one export, one open
 * pull and one prepared pull.
 *
 * @param leases open ones, and those that have ended while the device is still busy with them
 * @param queuePairs of connections, message rings, and both ends of pulls
 * @param rings message rings
 * @param ringBytes their memory
 * @param pulls prepared or in progress, at this end: one for each region that is read, and for each 256 KiB of staging
 *     memory
 * @param spaces shared ones, and those that have ended while they are still in use
 * @param registrations of shared spaces, by the leases that have them open
 * @param callBytes memory of procedures: of their classes, of maps, and of calls that wait
 */
public record Budgets(
        Budget leases,
        Budget queuePairs,
        Budget rings,
        Budget ringBytes,
        Budget pulls,
        Budget spaces,
        Budget registrations,
        Budget callBytes) {

    /** Kept for the server's own pulls, and for other users of the device. */
    private static final int KEPT_QUEUE_PAIRS = 64;

    private static final int MOST_QUEUE_PAIRS = 1 << 16;
    private static final int MOST_LEASES = 1 << 12;
    /**
     * All caches of a client may leave a server at once, with a pull or two each: a quarter of this is enough for that.
     */
    private static final int MOST_PULLS = 1024;

    private static final int MOST_SPACES = 1024;
    /** A part of the number that devices have, since leases register their own regions, too. */
    private static final int MOST_REGISTRATIONS = 1 << 15;

    private static final int LEASE_QUEUE_PAIRS = 1280;
    private static final int LEASE_RINGS = 256;
    private static final int LEASE_PULLS = 64;
    private static final long LEASE_RING_BYTES = 256L << 20;
    private static final long MOST_RING_BYTES = 64L << 30;
    private static final int RING_MEMORY_SHARE = 4;
    private static final int CALL_MEMORY_SHARE = 16;
    private static final long MOST_CALL_BYTES = 16L << 30;
    /** So that a quarter of it is enough for a lease with as many calls and procedures as it may have. */
    private static final long LEAST_CALL_BYTES = 128L << 20;
    /** The least share of a client: a quarter of little memory would be less than one session needs. */
    private static final long CLIENT_RING_BYTES = 64L << 20;

    /** @param available bytes of memory that the machine has left */
    public static Budgets of(ServerLimits limits, DeviceLimits device, long available) {
        int deviceHas = Math.min(device.maxQueuePairs(), device.maxCompletionQueues());
        int queuePairs = limits.queuePairs() > 0
                ? limits.queuePairs()
                : Math.clamp(deviceHas - KEPT_QUEUE_PAIRS, 1, MOST_QUEUE_PAIRS);
        int leases = limits.leases() > 0 ? limits.leases() : Math.min(MOST_LEASES, queuePairs);
        long ringBytes =
                limits.ringBytes() > 0 ? limits.ringBytes() : Math.min(MOST_RING_BYTES, available / RING_MEMORY_SHARE);
        int pulls = Math.clamp(queuePairs / 16, 1, MOST_PULLS);
        return new Budgets(
                new Budget(
                        "leases",
                        false,
                        leases,
                        1,
                        Long.MAX_VALUE,
                        "close some clients",
                        "start this server with a larger --max-leases"),
                new Budget(
                        "queue pairs",
                        false,
                        queuePairs,
                        1,
                        LEASE_QUEUE_PAIRS,
                        "use fewer sessions or client threads",
                        "add a memory server, or, if this one's device has more, raise its --max-queue-pairs"),
                new Budget(
                        "message rings",
                        false,
                        queuePairs,
                        1,
                        LEASE_RINGS,
                        "use fewer sessions",
                        "add a memory server"),
                new Budget(
                        "message rings",
                        true,
                        ringBytes,
                        CLIENT_RING_BYTES,
                        LEASE_RING_BYTES,
                        "use fewer sessions, or a smaller batch or queue depth",
                        "start this server with a larger --ring-memory"),
                new Budget("pulls", false, pulls, 1, LEASE_PULLS, "move fewer regions at once", "add a memory server"),
                new Budget("shared spaces", false, MOST_SPACES, 1, MOST_SPACES, "drop some", "add a memory server"),
                new Budget(
                        "registrations of shared spaces",
                        false,
                        MOST_REGISTRATIONS,
                        1,
                        MOST_REGISTRATIONS,
                        "open fewer spaces",
                        "start this server with larger regions"),
                new Budget(
                        "memory of procedures",
                        true,
                        Math.clamp(available / CALL_MEMORY_SHARE, LEAST_CALL_BYTES, MOST_CALL_BYTES),
                        1,
                        Long.MAX_VALUE,
                        "make fewer calls at once, or unregister procedures",
                        "add a memory server"));
    }
}
