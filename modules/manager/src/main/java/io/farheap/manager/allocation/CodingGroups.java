package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
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
 *       groups the one with the fewest servers. If there is no such group it is <i>left over</i>.
 *   <li>If a server leaves its group, a left-over one of a domain that the group does not have takes its place. If
 *       there is no such server the place stays free.
 * </ul>
 *
 * <p>So a join moves no slab, and a leave only those of the server that left. New groups are made of left-over servers,
 * and of groups without slabs, when the caller asks for it ({@link #form}): as many full ones as there can be, then
 * smaller ones that servers join later. A group whose servers have slabs ends only if the caller wishes it
 * ({@link #end}).
 *
 * <p>Without I/O and clock: the same calls in the same order give the same groups. Not thread-safe.
 */
public final class CodingGroups {

    /** The most servers of a group; with more, nearly any servers of the cluster would be in one group. */
    public static final int MOST_SIZE = 1_024;

    /** The number makes it a total order. */
    private static final Comparator<CodingGroup> FEWEST_FIRST =
            Comparator.comparingInt(CodingGroup::members).thenComparingLong(CodingGroup::number);

    private final int size;
    private final int least;
    private final Map<Kind, KindGroups> kinds = new LinkedHashMap<>();
    private final Map<Long, Membership> memberships = new HashMap<>();
    private final Map<Long, CodingGroup> byNumber = new HashMap<>();
    private long lastNumber;

    /**
     * @param size servers of a full group: k + r and the load-balancing factor l of the largest code
     * @param least k + r of the largest code: no group is made with fewer servers
     * @throws IllegalArgumentException if a group would be smaller than two servers or than {@code least}, or larger
     *     than {@link #MOST_SIZE}
     */
    public CodingGroups(int size, int least) {
        if (least < 2 || size < least) {
            throw new IllegalArgumentException("coding groups of " + size + " servers for codes of up to " + least
                    + " slabs; a group has at least 2 servers and as many as the largest code has slabs: take larger "
                    + "groups or a smaller k + r");
        }
        if (size > MOST_SIZE) {
            throw new IllegalArgumentException(
                    "coding groups of " + size + " servers; take at most " + MOST_SIZE + " servers for a group");
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
        final TreeSet<CodingGroup> incomplete = new TreeSet<>(FEWEST_FIRST);
        /** Left-over servers by domain. No list is empty. */
        final Map<String, List<GroupServer>> leftOver = new LinkedHashMap<>();
        /** Whether servers have joined or left since {@link #form} was called last. */
        boolean changed;
        /** The groups without slabs when {@link #form} was called last. */
        Set<CodingGroup> idle = Set.of();

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

        void addLeftOver(GroupServer server) {
            leftOver.computeIfAbsent(server.domain(), _ -> new ArrayList<>(1)).add(server);
        }

        /**
         * Returns the domain with the most left-over servers that a group does not have; null if there is no such
         * domain.
         */
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
     * place; if there is no such server, the place stays free until one joins.
     *
     * @return the server that took its place; null if no server did
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
     * Gives free places of groups with slabs to left-over servers and to those of groups without slabs, and makes
     * groups of all other servers that are left over or were in groups without slabs: as many full groups as there can
     * be, then smaller ones, which have at least as many servers as the largest code has slabs.
     *
     * <p>No server of a group with slabs moves, also if the group has fewer servers than a range needs: ranges that
     * lack a server there have slabs outside until one joins. Call this after many servers have joined, and not after
     * each of them: the more servers there are, the fewer are left over. Call it also if servers have left that will
     * not come back soon, or if caches have ended. It does nothing if since the last call no server has joined or left
     * and no group has lost its last slab.
     *
     * @param used whether a server has slabs of coded ranges
     */
    public void form(LongPredicate used) {
        for (KindGroups of : kinds.values()) {
            List<CodingGroup> unused = of.groups.stream()
                    .filter(group -> group.servers().stream().noneMatch(server -> used.test(server.id())))
                    .toList();
            if (of.changed || !of.idle.containsAll(unused)) {
                of.changed = false;
                of.idle = new HashSet<>(unused);
                if (!of.leftOver.isEmpty() || !of.incomplete.isEmpty()) {
                    // First all of them: a server of one that ends must not take a place in another one that ends, too.
                    unused.forEach(of.incomplete::remove);
                    unused.forEach(group -> clear(group, of).forEach(member -> of.addLeftOver(member.server)));
                    fillFreePlaces(of, least);
                    fillFreePlaces(of, size);
                    of.idle = formGroups(of);
                }
            }
        }
    }

    /**
     * Ends a group although its servers may have slabs, as for a cluster that has shrunk to groups that are too small
     * for a range. Its servers take free places of other groups or are left over, so its ranges are on servers of
     * several groups then and should move. {@link #form} makes new groups of those that are left over.
     *
     * @param number of the group
     * @throws IllegalArgumentException if there is no such group
     */
    public void end(long number) {
        CodingGroup group = byNumber.get(number);
        if (group == null) {
            throw new IllegalArgumentException("there is no coding group " + number + "; take the number of a group");
        }
        KindGroups of = of(group.kind());
        of.incomplete.remove(group);
        clear(group, of).forEach(member -> settle(member, of));
        of.changed = true;
    }

    /**
     * Returns the highest number that a group has had; 0 if there was no group. A manager keeps it beside the servers'
     * places, so that no later group gets a number that another one has had ({@link #restoreLastNumber}).
     */
    public long lastNumber() {
        return lastNumber;
    }

    /**
     * Lets new groups have higher numbers than this.
     *
     * @param number what {@link #lastNumber} has returned; a lower one than that of a group changes nothing
     */
    public void restoreLastNumber(long number) {
        lastNumber = Math.max(lastNumber, number);
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
        of.addLeftOver(membership.server);
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

    /** Puts left-over servers into groups until these have some number of servers. */
    private void fillFreePlaces(KindGroups of, int members) {
        for (CodingGroup group : List.copyOf(of.incomplete)) {
            of.incomplete.remove(group);
            String domain = of.domainFor(group);
            while (domain != null && group.members() < members) {
                fill(group, group.freePlace(), domain, of);
                domain = of.domainFor(group);
            }
            if (group.members() < size) {
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

    /**
     * Ends a group that is not in the set of incomplete ones. Returns its servers, which are in no group and not among
     * the left-over ones.
     */
    private List<Membership> clear(CodingGroup group, KindGroups of) {
        of.unlist(group);
        byNumber.remove(group.number());
        List<Membership> cleared = new ArrayList<>(group.members());
        for (int place = 0; place < size; place++) {
            if (group.at(place) != null) {
                Membership membership = Objects.requireNonNull(
                        memberships.get(group.remove(place).id()));
                membership.group = null;
                cleared.add(membership);
            }
        }
        return cleared;
    }

    /**
     * Takes one server of each of the domains with the most left-over ones, again and again: it gives the most full
     * groups. Then groups with free places are made while there are enough domains for a range. Returns the new groups.
     */
    private Set<CodingGroup> formGroups(KindGroups of) {
        Set<CodingGroup> formed = new HashSet<>();
        NavigableMap<Integer, Deque<String>> byCount = new TreeMap<>();
        of.leftOver.forEach((domain, servers) ->
                byCount.computeIfAbsent(servers.size(), _ -> new ArrayDeque<>()).add(domain));
        List<String> domains = new ArrayList<>(size);
        while (of.leftOver.size() >= least) {
            int members = Math.min(size, of.leftOver.size());
            domains.clear();
            while (domains.size() < members) {
                Deque<String> most = Objects.requireNonNull(byCount.lastEntry()).getValue();
                domains.add(most.remove());
                if (most.isEmpty()) {
                    byCount.pollLastEntry();
                }
            }
            CodingGroup group = list(lastNumber + 1, of);
            formed.add(group);
            for (int place = 0; place < members; place++) {
                String domain = domains.get(place);
                fill(group, place, domain, of);
                List<GroupServer> rest = of.leftOver.get(domain);
                if (rest != null) {
                    byCount.computeIfAbsent(rest.size(), _ -> new ArrayDeque<>())
                            .add(domain);
                }
            }
            if (members < size) {
                of.incomplete.add(group);
            }
        }
        return formed;
    }
}
