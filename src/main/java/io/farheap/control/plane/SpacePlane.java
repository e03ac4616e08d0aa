package io.farheap.control.plane;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceInfo;
import io.farheap.control.SpaceKey;
import java.util.List;

/**
 * Shared spaces of a memory server: regions with a name, which any lease opens that knows the token, and which outlive
 * them all. Each lease that opens a space registers it in a protection domain of its own, so its remote keys are worth
 * nothing to others and go with it; the memory and what is in it stay. A space ends when it is dropped or its time is
 * over: every lease's registrations are destroyed, then the regions are zeroed, then they are free.
 *
 * <p>A space's regions are no lease's: {@link ControlPlane#release}, {@link ControlPlane#export} and batches of reads
 * and writes know nothing of them. Those who have a space open trust each other, as each can write all of it.
 *
 * <p>Thread-safe. Every method throws {@link ControlException} as those of {@link ControlPlane} do. Each may be
 * repeated after a call of which nothing was heard, and then has the answer that the first had, or would have had.
 */
public interface SpacePlane {

    int MAX_DESCRIPTOR_BYTES = 256;

    /** In the place of a space's time: it ends when it is dropped, or with its server. */
    long FOR_EVER = 0;

    /** The longest time that is not {@link #FOR_EVER}: ten years. */
    long MAX_MILLIS = 10L * 365 * 86_400_000;

    /** In the place of a space's id in {@link #drop}: whichever has the name. */
    long ANY_SPACE = 0;

    /**
     * Creates a space, zeroed, and opens it. What nobody asks for again after it was lost on its way stays: who has the
     * key opens it or drops it.
     *
     * @param leaseId of whom it is opened for; the space does not end with it
     * @param regions how many, at least 1
     * @param millis how long it lives, 1 to {@link #MAX_MILLIS}; or {@link #FOR_EVER}
     * @param descriptor for those who open it, at most {@value #MAX_DESCRIPTOR_BYTES} bytes
     * @param creationId any number, another one for each creation; one that is repeated is answered with the space that
     *     is there, whatever lease asks
     * @throws ControlException LEASE_EXPIRED; INVALID_ARGUMENT where there is a space of that name, or the server has
     *     as many spaces as it may; OUT_OF_MEMORY; GRANT_REFUSED where the server has a cache manager, which grants
     *     caches alone; NOT_FOUND where what was created by that number has ended
     */
    SpaceGrant create(long leaseId, SpaceKey key, int regions, long millis, byte[] descriptor, long creationId);

    /**
     * Opens a space. A lease that has it open gets the same opening again, with what the space has grown by.
     *
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND where no space has that name and that token: which of the two
     *     is wrong is not said; BUSY while an earlier opening of the lease is being closed
     */
    SpaceGrant open(long leaseId, SpaceKey key);

    /**
     * Adds regions, zeroed, at a space's end. Other leases that have it open get them when they open it again.
     *
     * @param growthId any number, another one for each growth of a space
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND as {@link #open}, or where the lease does not have it open;
     *     OUT_OF_MEMORY
     */
    SpaceGrowth grow(long leaseId, SpaceKey key, int regions, long growthId);

    /**
     * Lets a space live at least so much longer from now on. It never makes its life shorter.
     *
     * @param millis 1 to {@link #MAX_MILLIS}; or {@link #FOR_EVER}
     * @return how long it lives now, in ms, or {@link #FOR_EVER}
     * @throws ControlException LEASE_EXPIRED; NOT_FOUND as {@link #open}
     */
    long extend(long leaseId, SpaceKey key, long millis);

    /**
     * Ends an opening: its registrations are destroyed, and the space stays. Idempotent, also for a lease that is gone.
     * Operations that still arrive are refused by the device and put the queue pair that posted them into its error
     * state, so the caller must have drained its own.
     */
    void close(long leaseId, long openingId);

    /**
     * Ends a space. When it returns, nobody can open it, its name is free, and every lease's operations on it are
     * refused, but for one that its process has begun and is stopped in the middle of: until that is over, the regions
     * stay withdrawn. They are free when they are zero, which is a little later.
     *
     * @param spaceId which one is meant, or {@link #ANY_SPACE}. A caller who repeats it must say, as another space may
     *     have the name by then
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
