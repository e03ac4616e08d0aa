package io.farheap.manager.service.requests;

import io.farheap.control.ControlException;
import io.farheap.manager.Allocation;
import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.service.journal.ManagerLock;
import io.farheap.manager.service.servers.FreeRoom;
import io.farheap.manager.service.supply.Fleet;
import io.farheap.manager.service.supply.MachineOrder;
import io.farheap.manager.service.supply.ServerProvisioner;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Finds room for a cache. If there is none, it ends caches that have outlived their time, or starts servers, and the
 * call waits for them. Called without the lock, on any thread.
 */
public final class RoomFinder {

    /** Ends caches that have outlived their time. */
    @FunctionalInterface
    public interface Ender {

        /**
         * Called without the lock.
         *
         * @param room returns the room that the cache would get, called with the lock; empty if there is not enough
         * @return whether that will give the cache room, so that it has to wait
         */
        boolean makeRoom(long forCache, Supplier<Optional<FreeRoom>> room);
    }

    private final ManagerLock lock;
    private final Fleet fleet;
    private final ServerProvisioner recruits;
    private final Ender ender;
    private final long callNanos;

    /** @param callNanos for how long a call waits for room before the client has to repeat it */
    public RoomFinder(ManagerLock lock, Fleet fleet, ServerProvisioner recruits, Ender ender, long callNanos) {
        this.lock = lock;
        this.fleet = fleet;
        this.recruits = recruits;
        this.ender = ender;
        this.callNanos = callNanos;
    }

    /**
     * Runs the action, and repeats it after waiting while it finds no room.
     *
     * @param action gives the cache its room, or throws if there is none
     * @param room returns the room that the cache would get, called with the lock; empty if there is none
     * @param orders returns machines that would give it room if they were started, called with the lock
     * @throws ControlException OUT_OF_MEMORY; BUSY if the client has to ask again; other exceptions of the action
     */
    public Allocation find(
            long cacheId,
            Supplier<Allocation> action,
            Supplier<Optional<FreeRoom>> room,
            Supplier<Optional<MachineOrder>> orders) {
        long ends = System.nanoTime() + callNanos;
        while (true) {
            long seen = fleet.latest();
            try {
                return action.get();
            } catch (ControlException e) {
                if (!(e.getCause() instanceof NoRoomException)) {
                    throw e;
                }
                if (ender.makeRoom(cacheId, room)) {
                    lock.locked(() -> recruits.awaitRoom(cacheId, seen, ends));
                } else {
                    lock.locked(() -> recruits.await(cacheId, room, orders, e, seen, ends));
                }
            }
        }
    }
}
