package io.farheap.kv;

import io.farheap.kv.contract.MapException;
import io.farheap.testing.Wait;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;

/** The loss of a map's server in tests: requests fail until the map continues without the server. */
final class ServerLoss {

    static final long PAUSE_NANOS = 20_000_000;

    private ServerLoss() {}

    /** Returns when a condition is met. */
    static void await(BooleanSupplier condition) {
        // Until a lease is lost this fails many times, and each look may be many requests.
        Wait.until(condition, PAUSE_NANOS, 60_000_000_000L, "it has not come to that");
    }

    /** @return false if a server was lost */
    static boolean holds(Runnable check) {
        try {
            check.run();
            return true;
        } catch (MapException e) {
            return false;
        }
    }

    /** The keys below a number that are found now. */
    static Set<Integer> found(MapSession session, int keys) {
        Set<Integer> found = new HashSet<>();
        for (int i = 0; i < keys; i++) {
            int key = i;
            boolean[] there = new boolean[1];
            if (holds(() -> there[0] = session.get(TestServers.key(key)) != null) && there[0]) {
                found.add(i);
            }
        }
        return found;
    }
}
