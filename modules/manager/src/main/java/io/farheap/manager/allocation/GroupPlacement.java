package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Places ranges in coding groups (CodingSets: Hydra, section 5): a range takes the k + r least loaded servers of a
 * random group, or of a random part of it if the code is small ({@link CodingGroup#parts}). A group with more servers
 * is chosen more often. If no group has room for all slabs of a range, some of them are {@link #outside} from the
 * beginning.
 *
 * <p>Beyond the paper, it can look at two random groups and take the emptier one. Groups that are chosen at random
 * differ more in load than their servers do, and l spare servers of a group even out only what is within it.
 *
 * <p>Of equally loaded servers of a group the ones with the first places are taken. So the same sets of servers come
 * again and again, and if l is large some sets of r + 1 servers of a group never have a range in common.
 */
public final class GroupPlacement implements RangePlacement {

    /** Random choices that may find no room before all groups are looked at. */
    private static final int ATTEMPTS = 8;

    private static final int NONE = -1;

    private final CodingGroups groups;
    private final Kind kind;
    private final RandomGenerator random;
    private final int candidates;

    /** The servers of the best choice so far, and of the one that is looked at, from the least loaded on. */
    private Choice best = new Choice();

    private Choice next = new Choice();

    /**
     * @param kind of the servers that may be chosen
     * @param candidates random groups of which the emptiest is taken: 1 (the paper's) or 2
     * @throws IllegalArgumentException for another number of candidates
     */
    public GroupPlacement(CodingGroups groups, Kind kind, RandomGenerator random, int candidates) {
        if (candidates < 1 || candidates > 2) {
            throw new IllegalArgumentException(
                    candidates + " candidates for a range; take 1 or 2 groups, of which the emptier is used");
        }
        this.groups = groups;
        this.kind = kind;
        this.random = random;
        this.candidates = candidates;
    }

    /** The least loaded servers of a part. */
    private static final class Choice {

        GroupServer[] servers = {};
        double[] loads = {};
        int count;

        /**
         * Finds at most {@code splits} servers of a part, the least loaded ones. Returns the sum of their loads, or
         * FULL.
         */
        double of(CodingGroup group, int part, int splits, ToDoubleFunction<GroupServer> load) {
            if (servers.length != splits) {
                servers = new GroupServer[splits];
                loads = new double[splits];
            }
            count = 0;
            int parts = CodingGroup.parts(group.size(), splits);
            int end = CodingGroup.partStart(group.size(), parts, part + 1);
            for (int place = CodingGroup.partStart(group.size(), parts, part); place < end; place++) {
                GroupServer server = group.at(place);
                if (server != null) {
                    insert(server, load.applyAsDouble(server));
                }
            }
            double sum = 0;
            for (int i = 0; i < count; i++) {
                sum += loads[i];
            }
            return count < splits ? FULL : sum;
        }

        private void insert(GroupServer server, double load) {
            if (load == FULL || count == servers.length && load >= loads[count - 1]) {
                return;
            }
            int i = count < servers.length ? count++ : count - 1;
            for (; i > 0 && loads[i - 1] > load; i--) {
                loads[i] = loads[i - 1];
                servers[i] = servers[i - 1];
            }
            loads[i] = load;
            servers[i] = server;
        }
    }

    @Override
    public @Nullable List<GroupServer> choose(int splits, ToDoubleFunction<GroupServer> load) {
        List<CodingGroup> all = groups.groups(kind);
        int parts = all.size() * CodingGroup.parts(groups.size(), splits);
        double least = FULL;
        for (int attempt = 0; attempt < ATTEMPTS && least == FULL && parts > 0; attempt++) {
            int first = draw(all, splits, NONE);
            least = look(all, first, splits, load, least);
            if (candidates == 2 && parts > 1) {
                least = look(all, draw(all, splits, first), splits, load, least);
            }
        }
        if (least == FULL) {
            for (int part = 0; part < parts; part++) {
                least = look(all, part, splits, load, least);
            }
        }
        return least == FULL ? scattered(all, splits, load) : new ArrayList<>(Arrays.asList(best.servers));
    }

    /**
     * Returns a random part: one of twice as many servers is returned twice as often, so that all servers get equally
     * many slabs.
     *
     * @param but the part that is not returned; NONE if any may be
     */
    private int draw(List<CodingGroup> all, int splits, int but) {
        int parts = CodingGroup.parts(groups.size(), splits);
        int most = (groups.size() + parts - 1) / parts;
        int count = all.size() * parts;
        int part = 0;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int drawn = random.nextInt(but == NONE ? count : count - 1);
            part = but != NONE && drawn >= but ? drawn + 1 : drawn;
            int members = all.get(part / parts).countIn(parts, part % parts);
            if (members == most || random.nextInt(most) < members) {
                break;
            }
        }
        return part;
    }

    /**
     * Returns servers for a range that no part has room for: those of the part with the most of them, and others
     * outside; null if too few domains have room.
     */
    private @Nullable List<GroupServer> scattered(
            List<CodingGroup> all, int splits, ToDoubleFunction<GroupServer> load) {
        int parts = CodingGroup.parts(groups.size(), splits);
        List<GroupServer> chosen = new ArrayList<>(splits);
        for (int part = 0; part < all.size() * parts; part++) {
            next.of(all.get(part / parts), part % parts, splits, load);
            if (next.count > chosen.size()) {
                chosen.clear();
                chosen.addAll(Arrays.asList(next.servers).subList(0, next.count));
            }
        }
        while (chosen.size() < splits) {
            SlabChoice choice = replace(chosen, splits, load);
            if (choice == null) {
                return null;
            }
            chosen.add(choice.server());
        }
        return chosen;
    }

    /** Keeps the choice of a part if its load is below the least one so far, and returns the least one then. */
    private double look(
            List<CodingGroup> all, int index, int splits, ToDoubleFunction<GroupServer> load, double least) {
        int parts = CodingGroup.parts(groups.size(), splits);
        double sum = next.of(all.get(index / parts), index % parts, splits, load);
        if (sum >= least) {
            return least;
        }
        Choice before = best;
        best = next;
        next = before;
        return sum;
    }

    /**
     * Chooses a server of the part in which most of the range's slabs are. If none there has room, it takes the least
     * loaded server that is left over, else one of another group, and says that this is outside.
     */
    @Override
    public @Nullable SlabChoice replace(List<GroupServer> rest, int splits, ToDoubleFunction<GroupServer> load) {
        int parts = CodingGroup.parts(groups.size(), splits);
        GroupPart home = home(rest, parts);
        if (home != null) {
            GroupServer inside = lighter(null, home.group.serversIn(parts, home.part), rest, load);
            if (inside != null) {
                return new SlabChoice(inside, false);
            }
        }
        GroupServer outside = null;
        for (List<GroupServer> domain : groups.leftOverByDomain(kind)) {
            outside = lighter(outside, domain, rest, load);
        }
        List<CodingGroup> all = groups.groups(kind);
        for (int attempt = 0; attempt < ATTEMPTS && outside == null && !all.isEmpty(); attempt++) {
            outside = lighter(null, all.get(random.nextInt(all.size())).servers(), rest, load);
        }
        if (outside == null) {
            for (CodingGroup group : all) {
                outside = lighter(outside, group.servers(), rest, load);
            }
        }
        return outside == null ? null : new SlabChoice(outside, true);
    }

    @Override
    public List<GroupServer> outside(List<GroupServer> range, int splits) {
        GroupPart home = home(range, CodingGroup.parts(groups.size(), splits));
        if (home == null) {
            return new ArrayList<>(range);
        }
        List<GroupServer> outside = new ArrayList<>(range);
        outside.removeAll(home.members);
        return outside;
    }

    /**
     * Returns the part with the most of some servers; null if none of them is in a group. Of several such parts it is
     * the one that has the most servers itself, else that of the older group, whatever the order of the servers.
     */
    private @Nullable GroupPart home(List<GroupServer> servers, int parts) {
        List<GroupPart> found = new ArrayList<>(2);
        GroupPart most = null;
        for (GroupServer server : servers) {
            CodingGroup group = groups.groupOf(server.id());
            if (group != null) {
                int part = CodingGroup.partOf(group.size(), parts, groups.placeOf(server.id()));
                GroupPart same = null;
                for (GroupPart each : found) {
                    same = each.group == group && each.part == part ? each : same;
                }
                if (same == null) {
                    same = new GroupPart(group, part);
                    found.add(same);
                }
                same.members.add(server);
            }
        }
        for (GroupPart each : found) {
            most = most == null || each.isBefore(most, parts) ? each : most;
        }
        return most;
    }

    /** A part of a group, and the servers there of a range. */
    private static final class GroupPart {

        final CodingGroup group;
        final int part;
        final List<GroupServer> members = new ArrayList<>();

        GroupPart(CodingGroup group, int part) {
            this.group = group;
            this.part = part;
        }

        boolean isBefore(GroupPart other, int parts) {
            if (members.size() != other.members.size()) {
                return members.size() > other.members.size();
            }
            int own = group.countIn(parts, part);
            int others = other.group.countIn(parts, other.part);
            if (own != others) {
                return own > others;
            }
            return group == other.group ? part < other.part : group.number() < other.group.number();
        }
    }

    /** Returns the least loaded of a server and those of a list that fit beside a range's other servers. */
    private static @Nullable GroupServer lighter(
            @Nullable GroupServer before,
            List<GroupServer> servers,
            List<GroupServer> rest,
            ToDoubleFunction<GroupServer> load) {
        GroupServer best = before;
        double least = before == null ? FULL : load.applyAsDouble(before);
        for (GroupServer server : servers) {
            double own = load.applyAsDouble(server);
            if (own < least && !server.sharesDomain(rest)) {
                best = server;
                least = own;
            }
        }
        return best;
    }
}
