package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.migration.RegionEntry;

import java.util.Arrays;

/**
 * For each virtual region the way of a request that meets no obstacle, found once and good for as long as the region table has the
 * same entry and the session's connections are the same: finding it anew costs a chain of loads, each waiting for the one before.
 */
final class Routes {

    private static final Route UNKNOWN = new Route(null, null);

    private final SessionEngine engine;
    private final Route[] known;
    private final Route[] none;
    /** One of the two. */
    private Route[] routes;

    Routes(SessionEngine engine, int size) {
        this.engine = engine;
        this.known = new Route[size];
        this.none = new Route[size];
        this.routes = known;
        Arrays.fill(none, UNKNOWN);
        forget();
    }

    /** The route that was learnt last; good if it is of the region that the table has now. */
    Route get(int index) {
        return routes[index];
    }

    /** Whether there is to be no route for now: what takes one expects that no completion comes but its own. */
    void block(boolean blocked) {
        routes = blocked ? none : known;
    }

    boolean blocked() {
        return routes == none;
    }

    /** @return false where there is an obstacle: the region is moving, or its server cannot be reached */
    boolean learn(int index, RegionEntry entry) {
        Connection connection = engine.connection(entry.copy().serverIndex());
        if (blocked() || entry.isSplit() || connection == null || connection.failed()) {
            return false;
        }
        routes[index] = new Route(entry, connection);
        return true;
    }

    /** To be called whenever a connection has been made, has failed or has ended. */
    void forget() {
        Arrays.fill(known, UNKNOWN);
    }
}
