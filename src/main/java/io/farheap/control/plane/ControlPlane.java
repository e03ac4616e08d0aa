package io.farheap.control.plane;

import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.ServerDescription;
import io.farheap.control.ServerStatus;
import io.farheap.control.SignedGrant;
import io.farheap.verbs.Endpoint;
import java.util.List;

/**
 * What a memory server does for its clients. A memory server implements it, and {@code ControlClient} does over gRPC,
 * so callers and tests need not know which one they hold.
 *
 * <p>Everything a client holds hangs on its lease: queue pairs, registrations and regions go back when the lease is
 * closed or is not renewed in time. Identifiers of leases, connections and pulls are random 64-bit numbers (any value,
 * also negative) that cannot be guessed; region identifiers count from 0.
 *
 * <p>Thread-safe. Every method throws {@link ControlException}, whose code says what went wrong; over gRPC also
 * {@link ControlException.Code#UNAVAILABLE} and {@link ControlException.Code#DEADLINE_EXCEEDED}, after which the call
 * may or may not have taken effect. A call that fails otherwise has changed nothing.
 */
public interface ControlPlane {

    /** Raised with every change to the messages, or to batches, that an older peer would misread. */
    int PROTOCOL_VERSION = 7;

    /** Bytes of a {@link Ticket}'s token. */
    int TOKEN_BYTES = 16;

    /** The most characters of a client's name. */
    int MAX_NAME_LENGTH = 256;

    /** In the place of an allocation's number: one without a number in {@link #allocate}, any in {@link #release}. */
    long ANY_ALLOCATION = 0;

    /**
     * A client's first message.
     *
     * @param protocolVersion the caller's {@link #PROTOCOL_VERSION}
     * @throws ControlException {@link ControlException.Code#PROTOCOL_MISMATCH PROTOCOL_MISMATCH} where the server
     *     speaks another version
     */
    ServerDescription hello(int protocolVersion);

    /** In the place of a cache's id in {@link #openLease}: no manager knows of it. */
    long NO_CACHE = 0;

    /**
     * Opens a lease with a protection domain of its own, so that the remote keys granted under it are worth nothing to
     * other clients.
     *
     * @param clientName for people who read the server's log; at most {@value #MAX_NAME_LENGTH} characters, all of them
     *     printable
     * @param cacheId of the cache that a cache manager has allocated and the lease is for, so that the server can tell
     *     the manager what that holds; or {@link #NO_CACHE}
     * @param grant of that manager, or {@link SignedGrant#NONE}; a server without a manager does not look at it
     * @throws ControlException INVALID_ARGUMENT where the name is none; {@link ControlException.Code#GRANT_REFUSED
     *     GRANT_REFUSED} where the server has a manager, and that has not granted this
     */
    Lease openLease(String clientName, long cacheId, SignedGrant grant);

    /** As {@link #openLease(String, long, SignedGrant)}, for a cache of which no manager knows. */
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
     * Starts the lease's duration anew.
     *
     * @throws ControlException {@link ControlException.Code#LEASE_EXPIRED LEASE_EXPIRED} where the lease is unknown,
     *     closed or expired
     */
    void renewLease(long leaseId);

    /**
     * As {@link #renewLease(long)}, for a caller who can wait only so long.
     *
     * @param withinNanos more than 0; over gRPC the call ends with DEADLINE_EXCEEDED then, or earlier
     */
    default void renewLease(long leaseId, long withinNanos) {
        renewLease(leaseId);
    }

    /**
     * Frees everything the lease holds: its queue pairs first, so that nothing of the client's is in flight any more,
     * then its registrations; its regions are zeroed and go back to the free list. Idempotent: an unknown lease is
     * none. Where an operation of the client's does not get on, its regions stay withdrawn until that is over.
     */
    void closeLease(long leaseId);

    /**
     * Creates a queue pair in the lease's protection domain and connects it to the client's. The caller then connects
     * its own to the endpoint that is returned.
     *
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT where the device refuses the endpoint
     */
    ConnectedQueuePair connect(long leaseId, Endpoint client);

    /**
     * Creates a pair of message rings: a queue pair in the lease's protection domain, connected to the client's, and
     * memory that the client writes request batches to. A server thread executes them on the lease's regions and writes
     * the answers to the client.
     *
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT where a size is out of bounds, or the device refuses the
     *     endpoint
     */
    ConnectedRing connectRing(long leaseId, RingRequest request);

    /**
     * Destroys a connection's queue pair, and message rings. This is the fence: when it returns, no operation posted
     * through that connection will take effect any more. Idempotent, also for a lease that is gone.
     *
     * @throws ControlException INTERNAL where an operation that has begun does not get on: call again
     */
    void disconnect(long leaseId, long connectionId);

    /**
     * Grants regions, all or nothing: zeroed, and registered in the lease's protection domain for remote reads, writes
     * and atomics.
     *
     * @param regions how many, at least 1
     * @param allocationId chosen by the caller, another one for each allocation of a lease, so that it can
     *     {@link #abandon} it; {@link #ANY_ALLOCATION} where it will not
     * @throws ControlException LEASE_EXPIRED; OUT_OF_MEMORY with the numbers asked for and free; GRANT_REFUSED where a
     *     manager has granted the cache fewer; NOT_FOUND where that allocation has been abandoned
     */
    List<RegionGrant> allocate(long leaseId, int regions, long allocationId);

    /** As {@link #allocate(long, int, long)}, for a caller who will not abandon it. */
    default List<RegionGrant> allocate(long leaseId, int regions) {
        return allocate(leaseId, regions, ANY_ALLOCATION);
    }

    /**
     * Takes one region back: deregistered, zeroed, free for others. Operations that still arrive for it are refused by
     * the device and put the queue pair that posted them into its error state, so the caller must have drained its own.
     *
     * @param allocationId by which the region was granted, or {@link #ANY_ALLOCATION}. A caller who repeats a release
     *     must name it: the first may have taken effect, and the region may have been granted anew since
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND where the lease does not hold that region, or not by that
     *     allocation
     */
    void release(long leaseId, int regionId, long allocationId);

    /** As {@link #release(long, int, long)}, by whatever allocation the lease holds the region. */
    default void release(long leaseId, int regionId) {
        release(leaseId, regionId, ANY_ALLOCATION);
    }

    /**
     * Takes everything back that an allocation was granted and the lease still holds. Where the allocation is still on
     * its way, it will be refused: a caller who does not know what became of it asks for this. Idempotent.
     *
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT for {@link #ANY_ALLOCATION}
     */
    void abandon(long leaseId, long allocationId);

    /**
     * Grants another server the right to read one region, once. The region must stay allocated until that server has
     * finished.
     *
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND where the lease does not hold that region
     */
    Ticket export(long leaseId, int regionId);

    /**
     * Opens an exported region for reading. Called on the old server by the new one. The pull has a protection domain
     * of its own, and ends with {@link #closePull} or with the lease that exported the region.
     *
     * @param token of the {@link Ticket}; it opens one pull
     * @param puller the new server's queue pair
     * @throws ControlException TICKET_REFUSED where the token is unknown, used or too old, or its region is gone
     */
    PullSource openPull(byte[] token, Endpoint puller);

    /** Ends a pull: its queue pair, registration and protection domain are destroyed. Idempotent. */
    void closePull(long pullId);

    /**
     * Does what a {@link #pull} with the same arguments needs before its first read: connects to the old server, opens
     * the export and maps the region. Writers wait for what is being copied, so a client prepares the pull before it
     * holds them. The pull then copies at the client's pace. A later call for the same region replaces it, giving the
     * region back ends it.
     *
     * @return where the client tells the server what it may copy
     * @throws ControlException as {@link #pull}; INVALID_ARGUMENT where the pace makes no sense
     */
    WatermarkEndpoint preparePull(long leaseId, int regionId, String sourceAddress, byte[] token, PullPace pace);

    /**
     * As {@link #preparePull}, for a region that has a split of an erasure code: the server reads other splits of other
     * servers, at the same offsets, and decodes. More of them than are needed are compared, and the pull fails where
     * they disagree. A {@link #pull} with the first source's address and token begins it.
     *
     * @return where the client tells the server what it may make
     * @throws ControlException as {@link #pull}; INVALID_ARGUMENT where the plan or the pace makes no sense
     */
    WatermarkEndpoint prepareRebuild(long leaseId, int regionId, RebuildPlan plan, PullPace pace);

    /**
     * Copies a region of another server into one of this server's with one-sided reads, and returns when all of it has
     * arrived. Called on the new server by the client that holds both regions. Both must be of the same length. One
     * that was {@linkplain #preparePull prepared} goes at the client's pace, any other at once.
     *
     * @param regionId the region to fill, held by this lease
     * @param sourceAddress HOST:PORT of the old server's control plane
     * @param token of the {@link Ticket} that the old server gave
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND where the lease does not hold that region; PULL_FAILED where
     *     the source cannot be reached or a read fails: the region's content is then undefined, and it can be pulled
     *     again with a new ticket; TICKET_REFUSED as the old server says
     */
    PullResult pull(long leaseId, int regionId, String sourceAddress, byte[] token);

    /** The most regions that {@link #reportUse} names. */
    int MAX_REPORTED = 128;

    /**
     * Tells how much regions are used that the client can do without: it would give them back when asked, with what
     * they hold kept elsewhere. The server asks for the least used of them while its machine is short of memory.
     *
     * @param uses the lease's such regions, or {@value #MAX_REPORTED} of them, others each time; one that is not named,
     *     or not held by the lease, is not asked for
     * @return what is wanted back by now; the same region is asked for again until it is given back, or is not needed
     *     any more
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT where there are too many, or accesses below 0
     */
    WantedRegions reportUse(long leaseId, List<RegionUse> uses);

    /** What it has, and who has it. */
    ServerStatus describe();

    /** Memory of this server that many leases share. */
    SpacePlane spaces();
}
