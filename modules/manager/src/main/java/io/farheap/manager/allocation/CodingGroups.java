package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The extended coding groups of a cluster (CodingSets: Hydra, section 5). Each server is in at most one group, and the
 * servers of a group are of one kind and of different failure domains. So of all sets of r + 1 servers only those
 * within a group lose data if they fail together.
 *
 * <p>Groups change as little as possible, since a slab whose server leaves its group should move:
 *
 * <ul>
 *   <li>A server that joins takes a free place of a group in which no other server of its domain is; of several such
 *       groups the one with the fewest servers. If there is none it is <i>left over</i>.
 *   <li>If a server leaves its group, a left-over one of a domain that the group does not have takes its place. If
 *       there is none the place stays free.
 * </ul>
 *
 * <p>So a join moves no slab, and a leave only those of the server that left. New groups are made of left-over servers,
 * and of groups without slabs, when the caller asks for it ({@link #form}). Then groups that are too small for a range
 * end, too: their servers take free places of other groups, or make new ones.
 *
 * <p>Without I/O and clock: the same calls in the same order give the same groups. Not thread-safe.
 */
public final class CodingGroups {

    /** The fewest servers first. The number makes it a total order. */
    private static final Comparator<CodingGroup> FEWEST =
            Comparator.comparingInt(CodingGroup::members).thenComparingLong(CodingGroup::number);

    private final int size;
    private final int least;
    private final Map<Kind, KindGroups> kinds = new LinkedHashMap<>();
    private final Map<Long, Membership> memberships = new HashMap<>();
    private final Map<Long, CodingGroup> byNumber = new HashMap<>();
    private long lastNumber;

    /**
     * @param size servers of a full group: k + r and the load-balancing factor l of the largest code
     * @param least k + r of the largest code: a group that has fewer servers ends when groups are formed
     * @throws IllegalArgumentException if a group would be smaller than two servers or than {@code least}
     */
    public CodingGroups(int size, int least) {
        if (least < 2 || size < least) {
            throw new IllegalArgumentException("coding groups of " + size + " servers for codes of up to " + least
                    + " slabs; a group has at least 2 servers and as many as the largest code has slabs: take larger "
                    + "groups or a smaller k + r");
        }
        this.size = size;
        this.least = least;
    }

    /** A server, and its place; {@code group} is null and {@code place} unused while it is left over. */
    private static final class Membership {

        final GroupServer server;

        @Nullable
        CodingGroup group;

        int place;

        Membership(GroupServer server) {
            this.server = server;
        }
    }

    /** The groups of one kind of servers, and the servers that are in none. */
    private static final class KindGroups {

        final Kind kind;
        final List<CodingGroup> groups = new ArrayList<>();
        final List<CodingGroup> view = Collections.unmodifiableList(groups);
        /** Groups with a free place. A group's number of servers changes only while it is not in this set. */
        final TreeSet<CodingGroup> incomplete = new TreeSet<>(FEWEST);
        /** Left-over servers by domain. No list is empty. */
        final Map<String, List<GroupServer>> leftOver = new LinkedHashMap<>();
        /** Whether a group might be formed that could not be when {@link #form} was called last. */
        boolean changed;

        KindGroups(Kind kind) {
            this.kind = kind;
        }

        void list(CodingGroup group) {
            group.index(groups.size());
            groups.add(group);
        }

        void unlist(CodingGroup group) {
            CodingGroup last = groups.removeLast();
            if (last != group) {
                groups.set(group.index(), last);
                last.index(group.index());
            }
        }

        GroupServer takeLeftOver(String domain, List<GroupServer> servers) {
            GroupServer server = servers.removeLast();
            if (servers.isEmpty()) {
                leftOver.remove(domain);
            }
            return server;
        }

        /** Returns the domain with the most left-over servers that a group does not have; null if there is none. */
        @Nullable
        String domainFor(CodingGroup group) {
            String best = null;
            int most = 0;
            for (Map.Entry<String, List<GroupServer>> domain : leftOver.entrySet()) {
                if (domain.getValue().size() > most && !group.hasDomain(domain.getKey())) {
                    best = domain.getKey();
                    most = domain.getValue().size();
                }
            }
            return best;
        }
    }

    /** Returns the number of servers of a full group. */
    public int size() {
        return size;
    }

    /** Returns the kinds of servers that have joined. */
    public Set<Kind> kinds() {
        return Collections.unmodifiableSet(kinds.keySet());
    }

    /** Returns a view of the groups of one kind, in no particular order; the next change of the groups changes it. */
    public List<CodingGroup> groups(Kind kind) {
        KindGroups of = kinds.get(kind);
        return of == null ? List.of() : of.view;
    }

    /** Returns the servers of a kind that are in no group. */
    public List<GroupServer> leftOver(Kind kind) {
        return leftOverByDomain(kind).stream().flatMap(List::stream).toList();
    }

    Collection<List<GroupServer>> leftOverByDomain(Kind kind) {
        KindGroups of = kinds.get(kind);
        return of == null ? List.of() : of.leftOver.values();
    }

    /** Returns a server that has joined; null if it has not, or has left. */
    @Nullable
    public GroupServer find(long serverId) {
        Membership membership = memberships.get(serverId);
        return membership == null ? null : membership.server;
    }

    /** Returns a server's group; null if it is left over, or has not joined. */
    @Nullable
    public CodingGroup groupOf(long serverId) {
        Membership membership = memberships.get(serverId);
        return membership == null ? null : membership.group;
    }

    /** Returns a server's place in its group, from 0; -1 if it is in no group. */
    public int placeOf(long serverId) {
        Membership membership = memberships.get(serverId);
        return membership == null || membership.group == null ? -1 : membership.place;
    }

    /**
     * Adds a server. A server whose domain or kind changes leaves, and joins again.
     *
     * @return the group of which it took a free place; null if it is left over
     * @throws IllegalArgumentException if it has joined already
     */
    @Nullable
    public CodingGroup join(GroupServer server) {
        Membership membership = add(server);
        settle(membership, of(server.kind()));
        return membership.group;
    }

    /**
     * Puts a server back at the place that it had, when groups are read from a manager's state. Servers that were left
     * over join after all others are back, since they would take places that are still free.
     *
     * @param group the number of its group
     * @throws IllegalArgumentException if it has joined already, or cannot have this place: the place is taken or does
     *     not exist, or the group has a server of its domain or of another kind. Nothing has changed then
     */
    public void restore(GroupServer server, long group, int place) {
        CodingGroup found = byNumber.get(group);
        if (group < 1 || place < 0 || place >= size) {
            throw new IllegalArgumentException("place " + place + " of group " + group
                    + "; groups are numbered from 1, and places from 0 to " + (size - 1));
        }
        if (found != null
                && (!found.kind().equals(server.kind())
                        || found.at(place) != null
                        || found.hasDomain(server.domain()))) {
            throw new IllegalArgumentException("server " + server.id() + " cannot have place " + place + " of " + found
                    + ": the place is taken, or the group has another kind or a server of domain " + server.domain());
        }
        Membership membership = add(server);
        KindGroups of = of(server.kind());
        if (found == null) {
            found = list(group, of);
        } else {
            of.incomplete.remove(found);
        }
        place(membership, found, place, of);
        of.changed = true;
    }

    /**
     * Removes a server. If it was in a group, a left-over server of a domain that the group does not have takes its
     * place; if there is none, the place stays free until such a server joins.
     *
     * @return the server that took its place; null if there is none
     * @throws IllegalArgumentException if it has not joined
     */
    @Nullable
    public GroupServer leave(long serverId) {
        Membership membership = memberships.remove(serverId);
        if (membership == null) {
            throw new IllegalArgumentException("server " + serverId + " has not joined");
        }
        KindGroups of = of(membership.server.kind());
        CodingGroup group = membership.group;
        if (group == null) {
            String domain = membership.server.domain();
            List<GroupServer> servers = of.leftOver.get(domain);
            if (servers != null && servers.remove(membership.server) && servers.isEmpty()) {
                of.leftOver.remove(domain);
            }
            return null;
        }
        of.changed = true;
        of.incomplete.remove(group);
        group.remove(membership.place);
        String domain = of.domainFor(group);
        GroupServer successor = null;
        if (domain != null) {
            successor = fill(group, membership.place, domain, of);
        }
        if (group.members() < size) {
            of.incomplete.add(group);
        }
        return successor;
    }

    /**
     * Makes groups of left-over servers, as many as there can be, and ends groups that have fewer servers than a range
     * needs and get no others. Call this after many servers have joined, and not after each of them: the more servers
     * there are, the fewer are left over. Call it also if servers have left that will not come back soon: the ranges of
     * a group that ends are on servers of several groups then, and should move. It does nothing if no server has joined
     * or left since the last call.
     *
     * @param used whether a server has slabs of coded ranges. If servers are left over, groups without any are made
     *     again, too, since that moves nothing
     */
    public void form(LongPredicate used) {
        for (KindGroups of : kinds.values()) {
            if (of.changed) {
                of.changed = false;
                fillFreePlaces(of);
                if (!of.leftOver.isEmpty()) {
                    endUnused(of, used);
                    formGroups(of);
                    fillFreePlaces(of);
                }
            }
        }
    }

    private KindGroups of(Kind kind) {
        return kinds.computeIfAbsent(kind, KindGroups::new);
    }

    private Membership add(GroupServer server) {
        Membership membership = new Membership(server);
        if (memberships.putIfAbsent(server.id(), membership) != null) {
            throw new IllegalArgumentException(
                    "server " + server.id() + " has joined already; let it leave before it joins again");
        }
        return membership;
    }

    /** Puts a server that is in no group into one with a free place, or to the left-over ones. */
    private void settle(Membership membership, KindGroups of) {
        of.changed = true;
        String domain = membership.server.domain();
        for (CodingGroup group : of.incomplete) {
            if (!group.hasDomain(domain)) {
                of.incomplete.remove(group);
                place(membership, group, group.freePlace(), of);
                return;
            }
        }
        of.leftOver.computeIfAbsent(domain, _ -> new ArrayList<>(1)).add(membership.server);
    }

    /** Puts a server into a group that is not in the set of incomplete ones, and the group there if it is one. */
    private void place(Membership membership, CodingGroup group, int place, KindGroups of) {
        group.put(place, membership.server);
        membership.group = group;
        membership.place = place;
        if (group.members() < size) {
            of.incomplete.add(group);
        }
    }

    /** Puts a left-over server into a group that is not in the set of incomplete ones. */
    private GroupServer fill(CodingGroup group, int place, String domain, KindGroups of) {
        List<GroupServer> servers = Objects.requireNonNull(of.leftOver.get(domain));
        GroupServer server = of.takeLeftOver(domain, servers);
        Membership membership = Objects.requireNonNull(memberships.get(server.id()));
        group.put(place, server);
        membership.group = group;
        membership.place = place;
        return server;
    }

    private void fillFreePlaces(KindGroups of) {
        for (CodingGroup group : List.copyOf(of.incomplete)) {
            of.incomplete.remove(group);
            String domain = of.domainFor(group);
            while (domain != null && group.members() < size) {
                fill(group, group.freePlace(), domain, of);
                domain = of.domainFor(group);
            }
            if (group.members() < least) {
                end(group, of);
            } else if (group.members() < size) {
                of.incomplete.add(group);
            }
        }
    }

    /** Makes a group without servers, which is not in the set of incomplete ones. */
    private CodingGroup list(long number, KindGroups of) {
        CodingGroup group = new CodingGroup(number, of.kind, size);
        lastNumber = Math.max(lastNumber, number);
        byNumber.put(number, group);
        of.list(group);
        return group;
    }

    /** Ends a group that is not in the set of incomplete ones. */
    private void end(CodingGroup group, KindGroups of) {
        of.unlist(group);
        byNumber.remove(group.number());
        for (int place = 0; place < size; place++) {
            if (group.at(place) != null) {
                Membership membership = Objects.requireNonNull(
                        memberships.get(group.remove(place).id()));
                membership.group = null;
                settle(membership, of);
            }
        }
    }

    private void endUnused(KindGroups of, LongPredicate used) {
        List<CodingGroup> unused = of.groups.stream()
                .filter(group -> group.servers().stream().noneMatch(server -> used.test(server.id())))
                .toList();
        // First all of them: a server of one that ends must not take a place in another one that ends, too.
        unused.forEach(of.incomplete::remove);
        unused.forEach(group -> end(group, of));
        of.changed = false;
    }

    /**
     * Takes one server of each of the domains with the most left-over ones, again and again: it gives the most groups.
     */
    private void formGroups(KindGroups of) {
        NavigableMap<Integer, Deque<String>> byCount = new TreeMap<>();
        of.leftOver.forEach((domain, servers) ->
                byCount.computeIfAbsent(servers.size(), _ -> new ArrayDeque<>()).add(domain));
        List<String> domains = new ArrayList<>(size);
        while (of.leftOver.size() >= size) {
            domains.clear();
            while (domains.size() < size) {
                Deque<String> most = Objects.requireNonNull(byCount.lastEntry()).getValue();
                domains.add(most.remove());
                if (most.isEmpty()) {
                    byCount.pollLastEntry();
                }
            }
            CodingGroup group = list(lastNumber + 1, of);
            for (int place = 0; place < size; place++) {
                String domain = domains.get(place);
                fill(group, place, domain, of);
                List<GroupServer> rest = of.leftOver.get(domain);
                if (rest != null) {
                    byCount.computeIfAbsent(rest.size(), _ -> new ArrayDeque<>())
                            .add(domain);
                }
            }
        }
    }
}
