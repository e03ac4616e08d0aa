package io.farheap.cache.route;

import io.farheap.connection.Connection;
import io.farheap.migration.region.RegionEntry;
import io.farheap.migration.region.RegionTable;
import io.farheap.migration.region.SplitRegion;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.queue.QueueConnections;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Where a session's requests go: the connection and the batches to each server and, for each virtual region, a cached
 * {@link Route} for a request that meets no obstacle. A route is valid as long as the region table has the same entry
 * and the session's connections are the same; finding it again costs a chain of loads, each of which waits for the one
 * before. One thread at a time, inside the session's gate.
 *
 * <p>A request finds its route in two steps: the route of {@link #get} is valid if its {@code entry} is the one that
 * the table has now; if not, {@link #find} makes another.
 */
public final class Routes {

    private final RegionTable table;
    private final QueueConnections connections;
    private Route[] known = {};
    /**
     * Two routes for each region that is in several places: one to the copy that has its beginning, and one to the
     * other copy that was used last.
     */
    private Route[] split = {};

    private @Nullable BatchLane[] lanes = {};

    /** @param connections of the session; code that changes them calls {@link #forget} */
    public Routes(RegionTable table, QueueConnections connections) {
        this.table = table;
        this.connections = connections;
        grow();
    }

    /**
     * Makes room for the regions that the table has gained. Known routes stay: a caller that looks up many regions
     * holds on to earlier ones.
     */
    private void grow() {
        int before = known.length;
        known = Arrays.copyOf(known, table.size());
        split = Arrays.copyOf(split, 2 * known.length);
        Arrays.fill(known, before, known.length, Route.UNKNOWN);
        Arrays.fill(split, 2 * before, split.length, Route.UNKNOWN);
    }

    /** The route to a region that was found last, which may be outdated. */
    public Route get(int index) {
        if (index >= known.length) {
            grow();
        }
        return known[index];
    }

    /**
     * The route of a request to a range.
     *
     * @return null if there is an obstacle: the range is in several regions or copies or waits for a migration, or its
     *     server cannot be reached
     */
    public @Nullable Route to(boolean write, long address, long length) {
        int index = table.indexOf(address);
        RegionEntry entry = table.get(index);
        long offset = table.offsetOf(address);
        if (length > table.regionBytes() - offset) {
            return null;
        }
        Route route = get(index);
        return route.entry == entry ? route : find(index, entry, write, offset, length);
    }

    /** As {@link #to}, for a range of one region for which {@link #get} had no valid route. */
    public @Nullable Route find(int index, RegionEntry entry, boolean write, long offset, long length) {
        if (index >= known.length) {
            grow();
        }
        SplitRegion pieces = entry.split();
        if (pieces != null) {
            RemoteRegion copy = pieces.copy(write, offset, length);
            return copy == null ? null : findSplit(2 * index + (copy == entry.copy() ? 0 : 1), entry, copy);
        }
        Route route = route(entry, entry.copy());
        if (route != null) {
            known[index] = route;
        }
        return route;
    }

    private @Nullable Route findSplit(int place, RegionEntry entry, RemoteRegion copy) {
        Route route = split[place];
        if (route.copy != copy || route.entry != entry) {
            route = route(entry, copy);
            if (route != null) {
                split[place] = route;
            }
        }
        return route;
    }

    private @Nullable Route route(RegionEntry entry, RemoteRegion copy) {
        Connection connection = connection(copy.serverIndex());
        if (connection != null && connection.failed()) {
            connection = null;
        }
        BatchLane lane = lane(copy.serverIndex());
        return connection == null && lane == null ? null : new Route(entry, copy, connection, lane);
    }

    /** Forgets all routes. To be called whenever a connection has failed, or is taken into use or out of it. */
    public void forget() {
        Arrays.fill(known, Route.UNKNOWN);
        Arrays.fill(split, Route.UNKNOWN);
    }

    /** The connection to a server, or null if there is none. */
    public @Nullable Connection connection(int server) {
        return connections.to(server);
    }

    /** The batches to a server, or null if there are none. */
    public @Nullable BatchLane lane(int server) {
        return server < lanes.length ? lanes[server] : null;
    }

    /** Sets the batches to a server; null for none. */
    public void lane(int server, @Nullable BatchLane lane) {
        if (server >= lanes.length) {
            lanes = Arrays.copyOf(lanes, server + 1);
        }
        lanes[server] = lane;
        forget();
    }

    public RegionTable table() {
        return table;
    }
}
