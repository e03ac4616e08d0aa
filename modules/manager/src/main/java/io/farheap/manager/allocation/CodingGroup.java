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
        List<GroupServer> servers = new ArrayList<>(members);
        for (GroupServer server : places) {
            if (server != null) {
                servers.add(server);
            }
        }
        return servers;
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
        int parts = parts(places.length, splits);
        int[] counts = new int[parts];
        for (int place = 0; place < places.length; place++) {
            if (places[place] != null) {
                counts[partOf(places.length, parts, place)]++;
            }
        }
        return counts;
    }

    boolean hasDomain(String domain) {
        for (GroupServer server : places) {
            if (server != null && server.domain().equals(domain)) {
                return true;
            }
        }
        return false;
    }

    /** Returns the first free place. */
    int freePlace() {
        int place = 0;
        while (places[place] != null) {
            place++;
        }
        return place;
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
