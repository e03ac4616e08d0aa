package io.farheap.cache.onesided;

import io.farheap.cache.route.Route;
import io.farheap.cache.route.Routes;
import io.farheap.connection.Connection;
import io.farheap.migration.region.RegionEntry;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.queue.QueuePoster;

/**
 * Puts the records of one request into lists of work requests, one for each server, each of which one doorbell posts.
 * {@link #canTake} and {@link #add} are called in one stay in the session's gate, so that no connection is changed, and
 * no drain begins, in between. A region's entry in the table may be replaced in between: its records then go to the old
 * place, and the drain that follows the change awaits them.
 */
final class RecordLists {

    private static final int NO_REGION = -1;

    private final Routes routes;
    private final RegionTable table;
    private final QueuePoster queue;
    private final int maxMessageBytes;

    /** The range that encloses the records added last. */
    private long begin;

    private long end;

    RecordLists(Routes routes, QueuePoster queue, int maxMessageBytes) {
        this.routes = routes;
        this.table = routes.table();
        this.queue = queue;
        this.maxMessageBytes = maxMessageBytes;
    }

    /**
     * Whether every record is in one region that is in one place, and that region's connection has room for all
     * records.
     */
    boolean canTake(long[] addresses, int count, int length) {
        if (length > maxMessageBytes || !queue.hasRoomFor(count)) {
            return false;
        }
        long last = table.regionBytes() - length;
        int found = NO_REGION;
        for (int i = 0; i < count; i++) {
            long address = addresses[i];
            int index = table.indexOf(address);
            if (table.offsetOf(address) > last || index != found && !canTake(index, count)) {
                return false;
            }
            found = index;
        }
        return true;
    }

    private boolean canTake(int index, int count) {
        RegionEntry entry = table.get(index);
        Route route = routes.get(index);
        if (route.entry != entry) {
            route = entry.isSplit() ? null : routes.find(index, entry, true, 0, table.regionBytes());
        }
        Connection connection = route == null ? null : route.connection;
        return connection != null && !connection.failed() && connection.room() >= count;
    }

    /**
     * Puts records that {@link #canTake} has accepted into the lists of their connections;
     * {@link QueuePoster#postLists} posts them.
     *
     * @param request the request's place, the tag of each work request
     * @param local address of the first record's data; the data of the others follow in the order of the records
     */
    // canTake has found a connection for each record.
    @SuppressWarnings("NullAway")
    void add(boolean write, int request, long[] addresses, int count, int length, int localKey, long local) {
        queue.beginLists(count);
        Route route = null;
        int found = NO_REGION;
        long from = Long.MAX_VALUE;
        long last = 0;
        for (int i = 0; i < count; i++) {
            long address = addresses[i];
            from = Math.min(from, address);
            last = Math.max(last, address);
            int index = table.indexOf(address);
            if (index != found) {
                route = routes.get(index);
                found = index;
            }
            route.connection.list(
                    write,
                    request,
                    local + (long) i * length,
                    localKey,
                    route.address + table.offsetOf(address),
                    route.remoteKey,
                    length);
        }
        begin = from;
        end = last + length;
    }

    /** The lowest address of the records added last. */
    long begin() {
        return begin;
    }

    /** The address at which the highest of the records added last ends, exclusive. */
    long end() {
        return end;
    }
}
