package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.region.RemoteRegion;

import java.util.Arrays;

/**
 * For each virtual region the way of a request that meets no obstacle, found once and good for as long as the region table has the
 * same entry and the session's connections are the same: finding it anew costs a chain of loads, each waiting for the one before.
 */
final class Routes {

    private static final Route UNKNOWN = new Route(null, null);

    private final SessionEngine engine;
    private final Route[] routes;

    Routes(SessionEngine engine, int size) {
        this.engine = engine;
        this.routes = new Route[size];
        forget();
    }

    /** The route that was learnt last; good if it is of the region that the table has now. */
    Route get(int index) {
        return routes[index];
    }

    /** @return false where there is an obstacle: the region is moving, or its server cannot be reached */
    boolean learn(int index, RemoteRegion region) {
        Connection connection = engine.connection(region.serverIndex());
        if (region.divided() || connection == null || connection.failed()) {
            return false;
        }
        routes[index] = new Route(region, connection);
        return true;
    }

    /** To be called whenever a connection has been made, has failed or has ended. */
    void forget() {
        Arrays.fill(routes, UNKNOWN);
    }
}
