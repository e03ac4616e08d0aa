package io.farheap.cache.managed;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.SignedGrant;
import io.farheap.manager.Allocation;
import io.farheap.manager.RegionShare;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * The grants of a cache's manager, by server. A server refuses grants of an earlier leader among the managers; then
 * this asks the present leader for new ones. Thread-safe.
 */
final class Grants {

    private static final int ATTEMPTS = 5;
    /** A server is notified of a new leader within a second or two. */
    private static final long PAUSE_MILLIS = 500;

    private final Map<String, SignedGrant> grants = new ConcurrentHashMap<>();
    private final Supplier<Allocation> again;
    private final AtomicLong generation = new AtomicLong();

    /** @param again asks the manager for the cache's allocation */
    Grants(Supplier<Allocation> again) {
        this.again = again;
    }

    /** Stores the grants of the manager's latest answer, and its generation. */
    void put(Allocation allocation) {
        saw(allocation.generation());
        put(allocation.shares());
        put(allocation.reserved());
    }

    /** The manager has named a generation of the cache. */
    void saw(long named) {
        generation.accumulateAndGet(named, Math::max);
    }

    /** Returns the latest generation of the cache that the manager has named: servers may have grants of it. */
    long generation() {
        return generation.get();
    }

    void put(List<RegionShare> shares) {
        for (RegionShare share : shares) {
            if (!share.grant().isNone()) {
                grants.put(share.address(), share.grant());
            }
        }
    }

    /**
     * Executes an action that a server requires a grant for.
     *
     * @throws ControlException as {@code action} does; GRANT_REFUSED if the manager's new grant is refused too
     */
    <T> T show(String address, Function<SignedGrant, T> action) {
        for (int attempt = 1; ; attempt++) {
            try {
                return action.apply(grants.getOrDefault(address, SignedGrant.NONE));
            } catch (ControlException e) {
                if (e.code() != Code.GRANT_REFUSED || attempt == ATTEMPTS) {
                    throw e;
                }
                askAgain(e);
            }
        }
    }

    private void askAgain(ControlException refused) {
        try {
            Thread.sleep(PAUSE_MILLIS);
            put(again.get());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw refused;
        } catch (ControlException e) {
            refused.addSuppressed(e);
            throw refused;
        }
    }
}
