package io.farheap.cache.managed;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

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
    /** Why the manager does not reserve the room any more; null if it does. */
    private volatile @Nullable RuntimeException refusal;

    private RoomRenewal(BooleanSupplier urgent) {
        this.urgent = urgent;
    }

    /**
     * Begins to renew, on a thread of its own.
     *
     * @param renew asks the manager once, and throws its refusal; a manager that does not answer is asked again
     * @param late called if the manager may have received the last request after the end
     * @param urgent whether another server of the cache is about to end
     */
    static RoomRenewal start(String cache, long pauseMillis, Runnable renew, Runnable late, BooleanSupplier urgent) {
        RoomRenewal renewal = new RoomRenewal(urgent);
        Thread.ofVirtual().name("farheap-room-" + cache).start(() -> renewal.run(pauseMillis, renew, late));
        return renewal;
    }

    private void run(long pauseMillis, Runnable renew, Runnable late) {
        try {
            while (!closed.await(pauseMillis, TimeUnit.MILLISECONDS) && renews(renew)) {
                if (closed.getCount() == 0) {
                    late.run();
                }
            }
        } catch (InterruptedException e) {
            // No thread interrupts this one.
            Thread.currentThread().interrupt();
        }
    }

    private boolean renews(Runnable renew) {
        try {
            renew.run();
            return true;
        } catch (RuntimeException e) {
            if (e instanceof ControlException answer && isNoAnswer(answer.code())) {
                return true;
            }
            refusal = e;
            return false;
        }
    }

    /** A call is also abandoned if the connection that it shares with others is closed. */
    private static boolean isNoAnswer(Code code) {
        return switch (code) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, CANCELLED -> true;
            default -> false;
        };
    }

    /**
     * Called between two regions.
     *
     * @throws CacheException if the move has to give way, since another server of the cache is about to end, or since
     *     the manager does not reserve the room any more: it may have promised it to another cache
     */
    public void requireTime() {
        RuntimeException refused = refusal;
        if (refused != null) {
            throw new CacheException(
                    "the manager reserves no more room for the move, so the rest stays: " + refused.getMessage(),
                    refused);
        }
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
