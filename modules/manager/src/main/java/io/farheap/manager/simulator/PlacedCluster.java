package io.farheap.manager.simulator;

import io.farheap.manager.allocation.CodingGroup;
import io.farheap.manager.allocation.CodingGroups;
import io.farheap.manager.allocation.GroupPlacement;
import io.farheap.manager.allocation.GroupServer;
import io.farheap.manager.allocation.Offer.Kind;
import io.farheap.manager.allocation.RandomPlacement;
import io.farheap.manager.allocation.RangePlacement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Servers on which ranges are placed by one scheme, with the code that a manager will run. */
final class PlacedCluster {

    private static final Kind KIND = new Kind("", false, 1L << 30);

    private final @Nullable CodingGroups groups;
    private final RangePlacement placement;

    /**
     * @param servers all of one kind
     * @param splits k + r
     * @param spare servers of a group beyond k + r, l; unused without groups
     */
    PlacedCluster(PlacementScheme scheme, List<GroupServer> servers, int splits, int spare, RandomGenerator random) {
        if (scheme.grouped()) {
            CodingGroups made = new CodingGroups(splits + spare, splits);
            // In any order, so that each cluster has other groups.
            List<GroupServer> order = new ArrayList<>(servers);
            for (int i = order.size() - 1; i > 0; i--) {
                Collections.swap(order, i, random.nextInt(i + 1));
            }
            order.forEach(made::join);
            made.form(_ -> false);
            groups = made;
            placement = new GroupPlacement(made, KIND, random, scheme.candidates());
        } else {
            groups = null;
            placement = new RandomPlacement(servers, random, scheme.candidates());
        }
    }

    /**
     * Returns servers with ids from 0.
     *
     * @param perDomain servers of each failure domain
     */
    static List<GroupServer> servers(int count, int perDomain) {
        List<GroupServer> servers = new ArrayList<>(count);
        String domain = "";
        for (int id = 0; id < count; id++) {
            domain = id % perDomain == 0 ? "domain " + id / perDomain : domain;
            servers.add(new GroupServer(id, domain, KIND));
        }
        return servers;
    }

    RangePlacement placement() {
        return placement;
    }

    /** Removes a server from its group; it has joined. */
    void leave(GroupServer server) {
        if (groups != null) {
            groups.leave(server.id());
        }
    }

    void join(GroupServer server) {
        if (groups != null) {
            groups.join(server);
        }
    }

    /** Returns how many parts of groups there are of each number of servers, of those that have enough for a range. */
    SortedMap<Integer, Integer> parts(int splits) {
        SortedMap<Integer, Integer> sizes = new TreeMap<>();
        for (CodingGroup group : Objects.requireNonNull(groups).groups(KIND)) {
            for (int members : group.partMembers(splits)) {
                if (members >= splits) {
                    sizes.merge(members, 1, Integer::sum);
                }
            }
        }
        return sizes;
    }

    /** Returns the servers of the part of a group that a range is in, all of which are in one. */
    List<GroupServer> part(List<GroupServer> range) {
        CodingGroups all = Objects.requireNonNull(groups);
        GroupServer first = range.getFirst();
        CodingGroup group = Objects.requireNonNull(all.groupOf(first.id()));
        return group.partServers(range.size(), all.placeOf(first.id()));
    }

    /** Returns the slabs of the server with the most, for each that servers have on average. */
    static double imbalance(int[] loads) {
        long all = 0;
        int most = 0;
        for (int load : loads) {
            all += load;
            most = Math.max(most, load);
        }
        return (double) most * loads.length / all;
    }

    /** Returns the number of servers in no group; 0 without groups. */
    int leftOver() {
        return groups == null ? 0 : groups.leftOver(KIND).size();
    }
}
