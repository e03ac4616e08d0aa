package io.farheap.control.plane;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import java.util.List;

/**
 * Shared spaces of a memory server: regions with a name, which any lease that knows the token can open, and which
 * outlive all leases. Each lease that opens a space registers it in a protection domain of its own, so its remote keys
 * are worth nothing to other clients and end with the lease; the memory and its content stay. A space ends when it is
 * dropped or its time has passed: every lease's registrations are destroyed, then the regions are zeroed, then they are
 * free.
 *
 * <p>A space's regions belong to no lease: {@link ControlPlane#release}, {@link ControlPlane#export} and batches of
 * reads and writes cannot use them. Clients that have a space open trust each other, since each can write all of it,
 * unless it was created to be read alone.
 *
 * <p>Thread-safe. Every method throws {@link ControlException} as those of {@link ControlPlane} do. Each call may be
 * repeated if its answer was lost, and then returns the answer that the first call had, or would have had.
 */
public interface SpacePlane {

    int MAX_DESCRIPTOR_BYTES = 256;

    /** Used instead of a space's lifetime: it ends when it is dropped, or with its server. */
    long FOR_EVER = 0;

    /** The longest time that is not {@link #FOR_EVER}: ten years. */
    long MAX_MILLIS = 10L * 365 * 86_400_000;

    /** Used instead of a space's id in {@link #drop}: any space with the name. */
    long ANY_SPACE = 0;

    /**
     * Creates a space, zeroed, and opens it. If the answer is lost and the call is not repeated, the space stays: any
     * client with the key can open it or drop it.
     *
     * @param leaseId for which it is opened; the space does not end with it
     * @param regions how many, at least 1
     * @param millis how long it lives, 1 to {@link #MAX_MILLIS}; or {@link #FOR_EVER}
     * @param descriptor for clients that open it, at most {@value #MAX_DESCRIPTOR_BYTES} bytes
     * @param creationId any number, a different one for each creation; a repeated one is answered with the existing
     *     space, for any lease
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT if there is a space of that name, or the server has as
     *     many spaces as it may; OUT_OF_MEMORY; GRANT_REFUSED if the server has a cache manager, which grants only
     *     caches; NOT_FOUND if the space that was created by that number has ended
     */
    default SpaceGrant create(
            long leaseId, SpaceKey key, int regions, long millis, byte[] descriptor, long creationId) {
        return create(leaseId, key, regions, millis, descriptor, creationId, false);
    }

    /**
     * The same.
     *
     * @param readOnly whether all leases may READ the space and neither WRITE it nor use atomics there, so that the
     *     server's own services alone change it
     */
    SpaceGrant create(
            long leaseId, SpaceKey key, int regions, long millis, byte[] descriptor, long creationId, boolean readOnly);

    /**
     * Opens a space. A lease that has it open gets the same opening again, with the regions by which the space has
     * grown.
     *
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND if no space has that name and that token, without telling which
     *     of the two is wrong; BUSY while an earlier opening of the lease is being closed
     */
    SpaceGrant open(long leaseId, SpaceKey key);

    /**
     * Adds regions, zeroed, at a space's end. Other leases that have it open get them when they open it again.
     *
     * @param growthId any number, another one for each growth of a space
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND as {@link #open}, or if the lease does not have it open;
     *     OUT_OF_MEMORY
     */
    SpaceGrowth grow(long leaseId, SpaceKey key, int regions, long growthId);

    /**
     * Extends a space's lifetime to at least so long from now. It never shortens it.
     *
     * @param millis 1 to {@link #MAX_MILLIS}; or {@link #FOR_EVER}
     * @return how long it lives now, in ms, or {@link #FOR_EVER}
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND as {@link #open}
     */
    long extend(long leaseId, SpaceKey key, long millis);

    /**
     * Ends an opening: its registrations are destroyed, and the space stays. Idempotent, also for a lease that has
     * ended. Operations that still arrive are refused by the device and put the queue pair that posted them into its
     * error state, so the caller must have drained its own.
     */
    void close(long leaseId, long openingId);

    /**
     * Ends a space. When it returns, no client can open it, its name is free, and every lease's operations on it are
     * refused, except an operation that has begun and whose process is stopped: until it has ended, the regions stay
     * withdrawn. They are free when they are zeroed, which is a little later.
     *
     * @param spaceId the space to end, or {@link #ANY_SPACE}. A caller that repeats the call must pass the id, since
     *     another space may have the name by then
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND as {@link #open}
     */
    void drop(long leaseId, SpaceKey key, long spaceId);

    /**
     * All spaces, by name.
     *
     * @throws ControlException LEASE_EXPIRED
     */
    List<SpaceInfo> list(long leaseId);
}
