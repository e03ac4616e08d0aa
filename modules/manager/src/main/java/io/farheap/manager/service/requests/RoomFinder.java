package io.farheap.manager.service.requests;

import io.farheap.control.ControlException;
import io.farheap.manager.Allocation;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.service.journal.ManagerLock;
import io.farheap.manager.service.supply.Fleet;
import io.farheap.manager.service.supply.ServerProvisioner;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Finds room for a cache: where there is none, others are ended whose time is over, or servers started, and the call
 * waits for them. Without the lock; any thread.
 */
public final class RoomFinder {

    /** Ends caches whose time is over. */
    @FunctionalInterface
    public interface Ender {

        /**
         * Without the lock.
         *
         * @param fits whether there is room, with the lock
         * @return whether that gives the cache room, so that it is to wait
         */
        boolean makeRoom(long forCache, BooleanSupplier fits);
    }

    private final ManagerLock lock;
    private final Fleet fleet;
    private final ServerProvisioner recruits;
    private final Ender ender;
    private final long callNanos;

    /** @param callNanos for how long a call waits for room before it is to be repeated */
    public RoomFinder(ManagerLock lock, Fleet fleet, ServerProvisioner recruits, Ender ender, long callNanos) {
        this.lock = lock;
        this.fleet = fleet;
        this.recruits = recruits;
        this.ender = ender;
        this.callNanos = callNanos;
    }

    /**
     * @param action gives the cache its room, or finds none
     * @param fits whether there is room, with the lock
     * @param quotes which servers would give it room, with the lock
     * @throws ControlException OUT_OF_MEMORY, BUSY where it is to ask again; what else the action throws
     */
    public Allocation find(
            long cacheId, Supplier<Allocation> action, BooleanSupplier fits, Supplier<Optional<Quote>> quotes) {
        long ends = System.nanoTime() + callNanos;
        while (true) {
            long seen = fleet.latest();
            try {
                return action.get();
            } catch (ControlException e) {
                if (!(e.getCause() instanceof NoRoomException)) {
                    throw e;
                }
                if (ender.makeRoom(cacheId, fits)) {
                    lock.locked(() -> recruits.awaitRoom(cacheId, seen, ends));
                } else {
                    lock.locked(() -> recruits.await(cacheId, quotes, e, seen, ends));
                }
            }
        }
    }
}
