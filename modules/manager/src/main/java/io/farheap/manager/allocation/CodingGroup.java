package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An extended coding group (Hydra, section 5): servers of one kind and of different failure domains. The slabs of a
 * coded range are on servers of one group, so only the failure of more than r servers of the same group loses data.
 *
 * <p>A group has a fixed number of places. A server keeps its place as long as it is in the group, and the server that
 * follows it takes that place. A code that needs less than half of a group uses one of several fixed <i>parts</i> of
 * it, which are ranges of places: if small ranges used all of the group, nearly each pair of its servers would have a
 * range in common.
 *
 * <p>{@link CodingGroups} alone changes groups. Not thread-safe.
 */
public final class CodingGroup {

    private final long number;
    private final Kind kind;
    private final @Nullable GroupServer[] places;
    private int members;
    /** Its index in the list of groups of its kind. */
    private int index;

    CodingGroup(long number, Kind kind, int size) {
        this.number = number;
        this.kind = kind;
        this.places = new GroupServer[size];
    }

    /** Returns the group's number, above 0, which no other group of the cluster has. */
    public long number() {
        return number;
    }

    public Kind kind() {
        return kind;
    }

    /** Returns the number of places. */
    public int size() {
        return places.length;
    }

    /** Returns the number of servers; less than {@link #size} if servers have left and no server could follow them. */
    public int members() {
        return members;
    }

    /** Returns the servers in the order of their places. */
    public List<GroupServer> servers() {
        return serversIn(1, 0);
    }

    /** Returns the server at a place, from 0; null if the place is free. */
    @Nullable
    public GroupServer at(int place) {
        return places[place];
    }

    /**
     * Returns into how many parts a group is divided for a code. A part has at least one server more than the code has
     * slabs; a code that needs half of the group or more uses all of it.
     *
     * @param size places of the group
     * @param splits k + r of the code
     */
    public static int parts(int size, int splits) {
        int least = splits + 1;
        return 2 * least <= size ? size / least : 1;
    }

    /**
     * Returns the number of places of each part, which differ by at most one.
     *
     * @param size places of the group
     * @param splits k + r of the code
     */
    public static int[] partSizes(int size, int splits) {
        int[] sizes = new int[parts(size, splits)];
        for (int part = 0; part < sizes.length; part++) {
            sizes[part] = partStart(size, sizes.length, part + 1) - partStart(size, sizes.length, part);
        }
        return sizes;
    }

    /** Returns the first place of a part; for the number of parts, the number of places. */
    static int partStart(int size, int parts, int part) {
        return size * part / parts;
    }

    /** Returns the part in which a place is. */
    static int partOf(int size, int parts, int place) {
        int part = 0;
        while (partStart(size, parts, part + 1) <= place) {
            part++;
        }
        return part;
    }

    /**
     * Returns the number of servers in each part of the group.
     *
     * @param splits k + r of the code
     */
    public int[] partMembers(int splits) {
        int[] counts = new int[parts(places.length, splits)];
        for (int part = 0; part < counts.length; part++) {
            counts[part] = countIn(counts.length, part);
        }
        return counts;
    }

    /** Returns the number of servers in one of some parts of the group. */
    int countIn(int parts, int part) {
        if (parts == 1) {
            return members;
        }
        int count = 0;
        int end = partStart(places.length, parts, part + 1);
        for (int place = partStart(places.length, parts, part); place < end; place++) {
            count += places[place] == null ? 0 : 1;
        }
        return count;
    }

    /** Returns the servers in one of some parts of the group, in the order of their places. */
    List<GroupServer> serversIn(int parts, int part) {
        List<GroupServer> servers = new ArrayList<>();
        int end = partStart(places.length, parts, part + 1);
        for (int place = partStart(places.length, parts, part); place < end; place++) {
            GroupServer server = places[place];
            if (server != null) {
                servers.add(server);
            }
        }
        return servers;
    }

    /**
     * Returns the servers of the part in which a place is, in the order of their places.
     *
     * @param splits k + r of the code
     */
    public List<GroupServer> partServers(int splits, int place) {
        int parts = parts(places.length, splits);
        return serversIn(parts, partOf(places.length, parts, place));
    }

    boolean hasDomain(String domain) {
        for (GroupServer server : places) {
            if (server != null && server.domain().equals(domain)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns the free place that is needed most: the first one of the part of three servers or so, the smallest there
     * is, that has the fewest servers. A part without servers has no range that lacks one, so it comes last.
     */
    int freePlace() {
        int parts = parts(places.length, 2);
        int best = -1;
        int fewest = Integer.MAX_VALUE;
        for (int part = 0; part < parts; part++) {
            int count = countIn(parts, part);
            int order = count == 0 ? Integer.MAX_VALUE - 1 : count;
            int free = order < fewest ? freePlace(parts, part) : -1;
            if (free >= 0) {
                best = free;
                fewest = order;
            }
        }
        return best;
    }

    /** Returns the first free place of a part; -1 if there is no such place. */
    private int freePlace(int parts, int part) {
        int end = partStart(places.length, parts, part + 1);
        for (int place = partStart(places.length, parts, part); place < end; place++) {
            if (places[place] == null) {
                return place;
            }
        }
        return -1;
    }

    void put(int place, GroupServer server) {
        places[place] = server;
        members++;
    }

    /** Returns the server that was at the place. */
    GroupServer remove(int place) {
        GroupServer server = Objects.requireNonNull(places[place]);
        places[place] = null;
        members--;
        return server;
    }

    int index() {
        return index;
    }

    void index(int value) {
        index = value;
    }

    @Override
    public String toString() {
        return "group " + number + " of " + members + " of " + places.length + " servers";
    }
}
