package io.farheap.control.plane;

import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.SignedGrant;
import io.farheap.verbs.Endpoint;
import java.util.List;

/**
 * The interface of a memory server to its clients. A memory server implements it, and {@code ControlClient} does over
 * gRPC, so callers and tests need not know which one they use.
 *
 * <p>Everything that a client holds belongs to its lease: queue pairs, registrations and regions are freed when the
 * lease is closed or is not renewed in time. Identifiers of leases, connections and pulls are random 64-bit numbers
 * (any value, also negative) that cannot be guessed; region identifiers count from 0.
 *
 * <p>Thread-safe. Every method throws {@link ControlException}, whose code gives the reason; over gRPC also
 * {@link ControlException.Code#UNAVAILABLE} and {@link ControlException.Code#DEADLINE_EXCEEDED}, after which the call
 * may or may not have taken effect. A call that fails for another reason has changed nothing.
 */
public interface ControlPlane {

    /** Increased with every change to the messages, or to batches, that an older peer would misread. */
    int PROTOCOL_VERSION = 7;

    /** How the message of an UNAVAILABLE begins with which a server answers that a connection still exists. */
    String NOT_ENDED_YET = "the connection has not ended yet";

    /** How the message of an UNAVAILABLE begins with which a process answers that it can be asked again. */
    String CANNOT_NOW = "it cannot do that now";

    /** Bytes of a {@link Ticket}'s token. */
    int TOKEN_BYTES = 16;

    /** The most characters of a client's name. */
    int MAX_NAME_LENGTH = 256;

    /**
     * Used instead of an allocation's number: in {@link #allocate} for an allocation without one, in {@link #release}
     * for any.
     */
    long ANY_ALLOCATION = 0;

    /**
     * A client's first message.
     *
     * @param protocolVersion the caller's {@link #PROTOCOL_VERSION}
     * @throws ControlException {@link ControlException.Code#PROTOCOL_MISMATCH PROTOCOL_MISMATCH} if the server speaks
     *     another version
     */
    ServerDescription hello(int protocolVersion);

    /** Used instead of a cache's id in {@link #openLease}: no manager knows the cache. */
    long NO_CACHE = 0;

    /**
     * Opens a lease with a protection domain of its own, so that the remote keys granted under it are worth nothing to
     * other clients.
     *
     * @param clientName for people who read the server's log; at most {@value #MAX_NAME_LENGTH} characters, all of them
     *     printable
     * @param cacheId of the cache that a cache manager has allocated and that the lease is for, so that the server can
     *     report to the manager what the cache holds; or {@link #NO_CACHE}
     * @param grant of that manager, or {@link SignedGrant#NONE}; a server without a manager ignores it
     * @throws ControlException INVALID_ARGUMENT if the name is not valid; {@link ControlException.Code#GRANT_REFUSED
     *     GRANT_REFUSED} if the server has a manager that has not granted this
     */
    Lease openLease(String clientName, long cacheId, SignedGrant grant);

    /** As {@link #openLease(String, long, SignedGrant)}, for a cache that no manager knows. */
    default Lease openLease(String clientName) {
        return openLease(clientName, NO_CACHE, SignedGrant.NONE);
    }

    /**
     * Shows a later grant for a lease's cache, which counts for all of its leases from now on.
     *
     * @throws ControlException LEASE_EXPIRED; GRANT_REFUSED
     */
    void showGrant(long leaseId, SignedGrant grant);

    /**
     * Starts the lease's duration again.
     *
     * @throws ControlException {@link ControlException.Code#LEASE_EXPIRED LEASE_EXPIRED} if the lease is unknown,
     *     closed or expired
     */
    void renewLease(long leaseId);

    /**
     * As {@link #renewLease(long)}, for a caller that can wait only for a limited time.
     *
     * @param withinNanos more than 0; over gRPC the call ends with DEADLINE_EXCEEDED then, or earlier
     */
    default void renewLease(long leaseId, long withinNanos) {
        renewLease(leaseId);
    }

    /**
     * Frees everything the lease holds: its queue pairs first, so that no operation of the client is in flight any
     * more, then its registrations; its regions are zeroed and become free. Idempotent: an unknown lease is ignored. If
     * an operation of the client does not end, its regions stay withdrawn until it has ended.
     */
    void closeLease(long leaseId);

    /**
     * Creates a queue pair in the lease's protection domain and connects it to the client's. The caller then connects
     * its own to the endpoint that is returned.
     *
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT if the device refuses the endpoint
     */
    ConnectedQueuePair connect(long leaseId, Endpoint client);

    /**
     * Creates a pair of message rings: a queue pair in the lease's protection domain, connected to the client's, and
     * memory that the client writes request batches to. A server thread executes them on the lease's regions and writes
     * the answers to the client.
     *
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT if a size is out of bounds, or the device refuses the
     *     endpoint
     */
    ConnectedRing connectRing(long leaseId, RingRequest request);

    /**
     * Destroys a connection's queue pair, and message rings. This is the fence: when it returns, no operation posted
     * through that connection will take effect any more. Idempotent, also for a lease that has ended.
     *
     * @throws ControlException UNAVAILABLE if an operation that has begun does not end: call again
     */
    void disconnect(long leaseId, long connectionId);

    /**
     * Grants regions, all or nothing: zeroed, and registered in the lease's protection domain for remote reads, writes
     * and atomics.
     *
     * @param regions how many, at least 1
     * @param allocationId chosen by the caller, a different one for each allocation of a lease, so that it can
     *     {@link #abandon} it; {@link #ANY_ALLOCATION} if it will not
     * @throws ControlException LEASE_EXPIRED; OUT_OF_MEMORY with the numbers asked for and free; GRANT_REFUSED if a
     *     manager has granted the cache fewer; NOT_FOUND if that allocation has been abandoned
     */
    List<RegionGrant> allocate(long leaseId, int regions, long allocationId);

    /** As {@link #allocate(long, int, long)}, for a caller that will not abandon it. */
    default List<RegionGrant> allocate(long leaseId, int regions) {
        return allocate(leaseId, regions, ANY_ALLOCATION);
    }

    /**
     * Takes one region back: it is deregistered, zeroed, and free for other clients. Operations that still arrive for
     * it are refused by the device and put the queue pair that posted them into its error state, so the caller must
     * have drained its own.
     *
     * @param allocationId by which the region was granted, or {@link #ANY_ALLOCATION}. A caller that repeats a release
     *     must pass it: the first call may have taken effect, and the region may have been granted again since
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND if the lease does not hold that region, or not by that
     *     allocation
     */
    void release(long leaseId, int regionId, long allocationId);

    /** As {@link #release(long, int, long)}, for any allocation by which the lease holds the region. */
    default void release(long leaseId, int regionId) {
        release(leaseId, regionId, ANY_ALLOCATION);
    }

    /**
     * Takes back all regions of an allocation that the lease still holds. If the allocation has not arrived yet, it
     * will be refused: a caller that does not know the outcome of an allocation uses this. Idempotent.
     *
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT for {@link #ANY_ALLOCATION}
     */
    void abandon(long leaseId, long allocationId);

    /**
     * Grants another server the right to read one region, once. The region must stay allocated until that server has
     * finished reading.
     *
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND if the lease does not hold that region
     */
    Ticket export(long leaseId, int regionId);

    /**
     * Opens an exported region for reading. Called on the old server by the new one. The pull has a protection domain
     * of its own, and ends with {@link #closePull} or with the lease that exported the region.
     *
     * @param token of the {@link Ticket}; it opens one pull
     * @param puller the new server's queue pair
     * @throws ControlException TICKET_REFUSED if the token is unknown, used or too old, or its region was given back
     */
    PullSource openPull(byte[] token, Endpoint puller);

    /** Ends a pull: its queue pair, registration and protection domain are destroyed. Idempotent. */
    void closePull(long pullId);

    /**
     * Prepares a {@link #pull} with the same arguments up to its first read: connects to the old server, opens the
     * export and maps the region. Writers wait for the range that is being copied, so a client prepares the pull before
     * it holds them. The pull then copies at the client's pace. A later call for the same region replaces it; giving
     * the region back ends it.
     *
     * @return the word in which the client stores how far the server may copy
     * @throws ControlException as {@link #pull}; INVALID_ARGUMENT if the pace is not valid
     */
    WatermarkEndpoint preparePull(long leaseId, int regionId, String sourceAddress, byte[] token, PullPace pace);

    /**
     * As {@link #preparePull}, for a region that holds a split of an erasure code: the server reads other splits from
     * other servers, at the same offsets, and decodes. If there are more of them than needed, they are compared, and
     * the pull fails if they disagree. A {@link #pull} with the first source's address and token begins it.
     *
     * @return the word in which the client stores how far the server may rebuild
     * @throws ControlException as {@link #pull}; INVALID_ARGUMENT if the plan or the pace is not valid
     */
    WatermarkEndpoint prepareRebuild(long leaseId, int regionId, RebuildPlan plan, PullPace pace);

    /**
     * Copies a region of another server into one of this server's with one-sided reads, and returns when all of it has
     * arrived. Called on the new server by the client that holds both regions. Both must have the same length. A pull
     * that was {@linkplain #preparePull prepared} runs at the client's pace, any other at once.
     *
     * @param regionId the region to fill, held by this lease
     * @param sourceAddress HOST:PORT of the old server's control plane
     * @param token of the {@link Ticket} that the old server gave
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND if the lease does not hold that region; PULL_FAILED if the
     *     source cannot be reached or a read fails: the region's content is then undefined, and it can be pulled again
     *     with a new ticket; TICKET_REFUSED if the old server refuses the ticket
     */
    PullResult pull(long leaseId, int regionId, String sourceAddress, byte[] token);

    /** The most regions that {@link #reportUse} names. */
    int MAX_REPORTED = 128;

    /**
     * Reports how much the client uses regions that it could give up: it would give them back when asked, and keep
     * their content elsewhere. The server asks for the least used of them while its machine is short of memory.
     *
     * @param uses such regions of the lease, at most {@value #MAX_REPORTED}; if there are more, different ones each
     *     time. A region that is not reported, or not held by the lease, is not asked for
     * @return the regions that the server wants back now; it repeats a region until it is given back, or is not needed
     *     any more
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT if there are too many, or accesses below 0
     */
    WantedRegions reportUse(long leaseId, List<RegionUse> uses);

    /** The server's state: its memory, and the leases that hold it. */
    ServerStatus describe();

    /** Memory of this server that many leases share. */
    SpacePlane spaces();
}
