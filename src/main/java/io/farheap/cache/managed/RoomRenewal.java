package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Renews the room that a manager has reserved for regions that the application moves, until it is closed. A manager
 * gives room up that is not renewed for some seconds, and regions move one after the other, for as long as that takes.
 * Any thread may call it.
 */
public final class RoomRenewal implements AutoCloseable {

    /** Of no room: it has nothing to renew. */
    public static final RoomRenewal NONE = new RoomRenewal(() -> false);

    private final BooleanSupplier urgent;
    private final CountDownLatch closed = new CountDownLatch(1);

    private RoomRenewal(BooleanSupplier urgent) {
        this.urgent = urgent;
    }

    /**
     * Begins to renew, on a thread of its own.
     *
     * @param renew asks the manager once; returns false if it has refused, so that it need not be asked again
     * @param late called if the manager may have received the last request after the end
     * @param urgent whether another server of the cache is about to end
     */
    static RoomRenewal start(
            String cache, long pauseMillis, BooleanSupplier renew, Runnable late, BooleanSupplier urgent) {
        RoomRenewal renewal = new RoomRenewal(urgent);
        Thread.ofVirtual().name("farheap-room-" + cache).start(() -> renewal.run(pauseMillis, renew, late));
        return renewal;
    }

    private void run(long pauseMillis, BooleanSupplier renew, Runnable late) {
        try {
            while (!closed.await(pauseMillis, TimeUnit.MILLISECONDS) && renew.getAsBoolean()) {
                if (closed.getCount() == 0) {
                    late.run();
                }
            }
        } catch (InterruptedException e) {
            // No thread interrupts this one.
            Thread.currentThread().interrupt();
        }
    }

    /**
     * Called between two regions.
     *
     * @throws CacheException if the move has to give way, since another server of the cache is about to end
     */
    public void requireTime() {
        if (urgent.getAsBoolean()) {
            throw new CacheException(
                    "the cache is to leave another memory server before that ends; move the rest when it has");
        }
    }

    /** Renews no more. Does not wait for a request that is under way. */
    @Override
    public void close() {
        closed.countDown();
    }
}
