package io.farheap.cache.batch;

import io.farheap.cache.route.BatchLane;
import io.farheap.cache.route.Route;
import io.farheap.cache.route.Routes;
import io.farheap.migration.region.RegionEntry;
import io.farheap.migration.region.RegionTable;

/**
 * Sorts the records of a request for many by the servers that they go to in batches. One thread at a time; nothing here
 * allocates after construction.
 */
final class RecordGroups {

    private final RegionTable table;
    /** By record. */
    private final int[] server;

    private final int[] regions;
    private final long[] offsets;
    private final int[] all;
    private int records;
    /** Whether all are on one server. */
    private boolean together;

    /** The chosen group: the indexes of its records, and the region and the offset of each. */
    int[] which;

    int[] region;
    long[] offset;
    int size;
    private final int[] someWhich;
    private final int[] someRegions;
    private final long[] someOffsets;

    /** @param capacity the most records of a request */
    RecordGroups(RegionTable table, int capacity) {
        this.table = table;
        server = new int[capacity];
        regions = new int[capacity];
        offsets = new long[capacity];
        all = new int[capacity];
        for (int i = 0; i < capacity; i++) {
            all[i] = i;
        }
        someWhich = new int[capacity];
        someRegions = new int[capacity];
        someOffsets = new long[capacity];
        which = someWhich;
        region = someRegions;
        offset = someOffsets;
    }

    /**
     * Finds the places of records.
     *
     * @return false if one has no known route to batches, or does not fit into one
     */
    boolean find(Routes routes, long[] addresses, int count, int bytes) {
        long last = table.regionBytes() - bytes;
        int inServer = 0;
        int inRegion = 0;
        int found = -1;
        together = true;
        for (int i = 0; i < count; i++) {
            long address = addresses[i];
            int index = table.indexOf(address);
            if (index != found) {
                RegionEntry current = table.get(index);
                Route route = routes.get(index);
                BatchLane lane = route.lane;
                if (route.entry != current || lane == null || bytes > lane.connection.recordBytes()) {
                    return false;
                }
                inServer = lane.server;
                inRegion = route.regionId;
                found = index;
            }
            long at = table.offsetOf(address);
            if (at > last) {
                return false;
            }
            server[i] = inServer;
            regions[i] = inRegion;
            offsets[i] = at;
            together &= server[i] == server[0];
        }
        records = count;
        return true;
    }

    /** Chooses the records on one server; {@link #size} says how many there are. */
    void choose(int wanted) {
        if (together) {
            which = all;
            region = regions;
            offset = offsets;
            size = server[0] == wanted ? records : 0;
            return;
        }
        which = someWhich;
        region = someRegions;
        offset = someOffsets;
        size = 0;
        for (int i = 0; i < records; i++) {
            if (server[i] == wanted) {
                which[size] = i;
                region[size] = regions[i];
                offset[size] = offsets[i];
                size++;
            }
        }
    }
}
