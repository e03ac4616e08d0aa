package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class CodingGroupsTest {

    private static final Kind KIND = new Kind("large", false, 1L << 30);
    private static final Kind SMALL_REGIONS = new Kind("large", false, 1L << 26);

    private static GroupServer server(long id, String domain) {
        return new GroupServer(id, domain, KIND);
    }

    private static CodingGroups of(int servers, int perDomain, int size) {
        CodingGroups groups = new CodingGroups(size, size - 2);
        for (int id = 0; id < servers; id++) {
            groups.join(server(id, "rack" + id / perDomain));
        }
        groups.form(_ -> false);
        return groups;
    }

    /** A server's place: its group's number and the place in it; a group of 0 is none. */
    private record Seat(long group, int place) {}

    private static Map<Long, Seat> seats(CodingGroups groups, Set<Long> servers) {
        Map<Long, Seat> seats = new HashMap<>();
        for (long id : servers) {
            CodingGroup group = groups.groupOf(id);
            seats.put(id, new Seat(group == null ? 0 : group.number(), groups.placeOf(id)));
        }
        return seats;
    }

    /** Of all servers but one. */
    private static Set<Long> moved(Map<Long, Seat> before, Map<Long, Seat> after, long but) {
        Set<Long> moved = new HashSet<>();
        before.forEach((id, seat) -> {
            if (id != but && !seat.equals(after.get(id))) {
                moved.add(id);
            }
        });
        return moved;
    }

    /**
     * Checks what is always so.
     *
     * @param used the numbers of groups that may have fewer servers than {@code least}
     */
    private static void check(CodingGroups groups, Set<Long> servers, int least, Set<Long> used) {
        int seen = 0;
        for (Kind kind : groups.kinds()) {
            for (CodingGroup group : groups.groups(kind)) {
                List<GroupServer> members = group.servers();
                assertEquals(members.size(), group.members());
                assertTrue(members.size() >= least || used.contains(group.number()), group::toString);
                assertEquals(
                        members.size(),
                        members.stream().map(GroupServer::domain).distinct().count(),
                        "two servers of a domain in a group");
                for (GroupServer member : members) {
                    assertEquals(kind, member.kind());
                    assertSame(group, groups.groupOf(member.id()));
                    assertEquals(member, group.at(groups.placeOf(member.id())));
                }
                seen += members.size();
                if (group.members() < group.size()) {
                    groups.leftOver(kind)
                            .forEach(left -> assertTrue(
                                    group.hasDomain(left.domain()), left + " is left over beside a place for it"));
                }
            }
            for (GroupServer left : groups.leftOver(kind)) {
                assertNull(groups.groupOf(left.id()));
                assertEquals(left, groups.find(left.id()));
                seen++;
            }
        }
        assertEquals(servers.size(), seen, "each server is in one group, or left over");
    }

    /** Groups that are formed do not use a domain that a group with slabs could use. */
    private static void checkUsedAreFilled(CodingGroups groups, Set<Long> used) {
        for (Kind kind : groups.kinds()) {
            for (CodingGroup group : groups.groups(kind)) {
                for (CodingGroup other : groups.groups(kind)) {
                    if (used.contains(group.number())
                            && group.members() < group.size()
                            && !used.contains(other.number())) {
                        other.servers()
                                .forEach(server -> assertTrue(
                                        group.hasDomain(server.domain()), other + " has a server for " + group));
                    }
                }
            }
        }
    }

    /**
     * A join moves no other server. A leave moves at most the left-over server that takes the place. Groups that are
     * formed later leave groups with slabs alone, but for free places there.
     */
    @Test
    void aThousandJoinsAndLeavesMoveOnlyWhatMust() {
        int least = 4;
        SplittableRandom random = new SplittableRandom(53);
        CodingGroups groups = new CodingGroups(6, least);
        Set<Long> servers = new HashSet<>();
        List<Long> list = new ArrayList<>();
        long small = 0;
        int followed = 0;
        for (long id = 1; id <= 1_000; id++) {
            Map<Long, Seat> before = seats(groups, servers);
            // The cluster grows and shrinks, so that there are full groups, free places and groups that end.
            if (list.isEmpty() || random.nextInt(100) < (id / 200 % 2 == 0 ? 75 : 25)) {
                Kind kind = random.nextInt(4) == 0 ? SMALL_REGIONS : KIND;
                groups.join(new GroupServer(id, "rack" + random.nextInt(15), kind));
                servers.add(id);
                list.add(id);
                assertEquals(Set.of(), moved(before, seats(groups, servers), id), "a join moved others");
            } else {
                long gone = list.remove(random.nextInt(list.size()));
                servers.remove(gone);
                Seat seat = before.get(gone);
                GroupServer successor = groups.leave(gone);
                Map<Long, Seat> after = seats(groups, servers);
                Set<Long> moved = moved(before, after, gone);
                if (successor != null) {
                    followed++;
                    assertEquals(Set.of(successor.id()), moved);
                    assertEquals(0, before.get(successor.id()).group(), "it was in no group");
                    assertEquals(seat, after.get(successor.id()));
                } else {
                    assertEquals(Set.of(), moved, "a leave moved others");
                }
            }
            check(groups, servers, 0, Set.of());
            if (random.nextInt(20) == 0) {
                Map<Long, Seat> still = seats(groups, servers);
                Set<Long> used = new HashSet<>();
                Set<Long> usedGroups = new HashSet<>();
                for (long server : servers) {
                    CodingGroup group = groups.groupOf(server);
                    if (group != null && group.servers().stream().anyMatch(member -> member.id() % 7 == 0)) {
                        used.add(server);
                        usedGroups.add(group.number());
                        small += group.members() < least ? 1 : 0;
                    }
                }
                groups.form(server -> server % 7 == 0);
                Map<Long, Seat> after = seats(groups, servers);
                used.forEach(server -> assertEquals(still.get(server), after.get(server), "a slab has to move"));
                check(groups, servers, least, usedGroups);
                checkUsedAreFilled(groups, usedGroups);
                groups.kinds()
                        .forEach(
                                kind -> assertTrue(groups.leftOverByDomain(kind).size() < least));
            }
        }
        assertTrue(small > 5 && followed > 20, small + " servers in small groups, " + followed + " places were taken");
    }

    /** The paper's cluster: 1,000 is no multiple of 12. */
    @Test
    void asManyGroupsAreMadeAsThereCanBe() {
        CodingGroups alone = of(1_000, 1, 12);
        assertEquals(83, alone.groups(KIND).size());
        assertEquals(4, alone.leftOver(KIND).size());
        CodingGroups racks = of(1_000, 32, 12);
        assertEquals(83, racks.groups(KIND).size(), "racks of 32 servers, the last one of 8");
        assertEquals(4, racks.leftOver(KIND).size());
    }

    /** Else no range could be placed, or only on few servers. */
    @Test
    void groupsWithFreePlacesAreMadeOfServersThatAreTooFewForFullOnes() {
        CodingGroups few = of(100, 10, 12);
        assertEquals(10, few.groups(KIND).size(), "ten racks, k + r of which hold a range");
        few.groups(KIND).forEach(group -> assertEquals(10, group.members()));
        assertEquals(List.of(), few.leftOver(KIND));
        CodingGroups small = of(23, 1, 12);
        assertEquals(
                Set.of(11, 12),
                Set.copyOf(small.groups(KIND).stream().map(CodingGroup::members).toList()));
        assertNotNull(small.join(server(23, "rack23")), "it takes the free place");
        CodingGroups racks = of(353, 32, 12);
        assertEquals(32, racks.groups(KIND).size(), "the last of twelve racks has one server");
        assertEquals(0, racks.leftOver(KIND).size());
        assertEquals(0, of(9, 1, 12).groups(KIND).size(), "nine servers hold no range");
    }

    private static void leave(CodingGroups groups, List<GroupServer> servers) {
        servers.forEach(server -> groups.leave(server.id()));
    }

    /** Servers that no range uses keep the slabs of a group where they are. */
    @Test
    void aGroupWithSlabsIsFilledBeforeNewOnesAreMade() {
        CodingGroups groups = of(24, 1, 6);
        List<CodingGroup> all = List.copyOf(groups.groups(KIND));
        Set<Long> unused = ids(all.get(1).servers());
        leave(groups, all.get(0).servers().subList(0, 3));
        leave(groups, all.get(2).servers().subList(0, 1));
        leave(groups, all.get(3).servers().subList(0, 1));
        Set<Long> used = new HashSet<>();
        for (CodingGroup group : List.of(all.get(0), all.get(2), all.get(3))) {
            used.addAll(ids(group.servers()));
        }
        Map<Long, Seat> before = seats(groups, used);
        groups.form(server -> !unused.contains(server));
        assertEquals(before, seats(groups, used), "a slab has to move");
        assertEquals(Set.of(all.get(0), all.get(2), all.get(3)), Set.copyOf(groups.groups(KIND)));
        groups.groups(KIND).forEach(group -> assertEquals(6, group.members()));
        assertEquals(1, groups.leftOver(KIND).size());
    }

    private static Set<Long> ids(List<GroupServer> servers) {
        Set<Long> ids = new HashSet<>();
        servers.forEach(server -> ids.add(server.id()));
        return ids;
    }

    /** A range that is short of one slab must not lose the places of all others. */
    @Test
    void aGroupWithSlabsStaysAlsoIfItIsTooSmall() {
        CodingGroups exact = new CodingGroups(10, 10);
        for (int id = 0; id < 20; id++) {
            exact.join(server(id, "d" + id));
        }
        exact.form(_ -> false);
        CodingGroup lacking = exact.groups(KIND).getFirst();
        leave(exact, lacking.servers().subList(4, 5));
        Map<Long, Seat> before = seats(exact, ids(lacking.servers()));
        exact.form(_ -> true);
        assertEquals(before, seats(exact, before.keySet()));
        assertSame(lacking, exact.join(server(20, "d20")), "a range's lost slab finds a place");
        assertEquals(4, exact.placeOf(20));

        CodingGroups parts = of(12, 1, 12);
        CodingGroup group = parts.groups(KIND).getFirst();
        leave(parts, group.servers().subList(9, 12));
        parts.form(_ -> true);
        assertSame(group, parts.groups(KIND).getFirst());
        assertArrayEquals(new int[] {3, 3, 3, 0}, group.partMembers(2), "two copies in other parts are whole");
    }

    /** Two halves of groups hold no range; the caller decides when their slabs move. */
    @Test
    void aGroupEndsIfTheCallerWishesIt() {
        CodingGroups groups = of(12, 1, 6);
        List<CodingGroup> all = List.copyOf(groups.groups(KIND));
        leave(groups, all.get(0).servers().subList(0, 3));
        leave(groups, all.get(1).servers().subList(0, 3));
        groups.form(_ -> true);
        assertEquals(2, groups.groups(KIND).size());
        Map<Long, Seat> before = seats(groups, ids(all.get(1).servers()));
        groups.end(all.get(0).number());
        assertEquals(List.of(all.get(1)), groups.groups(KIND));
        assertEquals(6, all.get(1).members());
        assertEquals(before, seats(groups, before.keySet()));
        assertThrows(IllegalArgumentException.class, () -> groups.end(all.get(0).number()), "it has ended");
    }

    /** Of places in parts of three, a server takes one next to those with slabs, which lack it. */
    @Test
    void aJoinFillsThePartThatHasTheFewestServers() {
        CodingGroups groups = of(12, 1, 12);
        CodingGroup group = groups.groups(KIND).getFirst();
        leave(groups, List.of(group.at(0), group.at(9), group.at(10)));
        groups.join(server(100, "other"));
        assertEquals(9, groups.placeOf(100), "the last part has one server, and the first one two");
        leave(groups, group.servers().subList(5, 8));
        assertArrayEquals(new int[] {2, 3, 0, 2}, group.partMembers(2));
        groups.join(server(101, "another"));
        assertEquals(0, groups.placeOf(101), "the third part has no ranges that lack a slab");
    }

    /** Left-over servers of too few domains make groups with the servers of groups that no range uses. */
    @Test
    void groupsThatAreMadeLaterUseUnusedOnesToo() {
        CodingGroups groups = of(24, 2, 12);
        assertEquals(2, groups.groups(KIND).size());
        for (int id = 24; id < 36; id++) {
            groups.join(server(id, "rack12"));
        }
        for (int id = 36; id < 44; id++) {
            groups.join(server(id, "rack" + id));
        }
        groups.form(_ -> true);
        assertEquals(2, groups.groups(KIND).size(), "nine domains are left over");
        assertEquals(20, groups.leftOver(KIND).size());
        groups.form(_ -> true);
        assertEquals(2, groups.groups(KIND).size());
        // Caches have ended; no server has joined or left since.
        groups.form(_ -> false);
        assertEquals(3, groups.groups(KIND).size());
        assertEquals(9, groups.leftOver(KIND).size());
        Set<CodingGroup> formed = Set.copyOf(groups.groups(KIND));
        groups.form(_ -> false);
        assertEquals(formed, Set.copyOf(groups.groups(KIND)), "nothing has changed");
    }

    @Test
    void kindsAndRegionSizesAreNotMixed() {
        CodingGroups groups = new CodingGroups(3, 3);
        for (int id = 0; id < 6; id++) {
            groups.join(new GroupServer(id, "d" + id, id % 3 == 0 ? SMALL_REGIONS : KIND));
        }
        groups.form(_ -> false);
        assertEquals(1, groups.groups(KIND).size());
        assertEquals(List.of(), groups.groups(SMALL_REGIONS));
        assertEquals(2, groups.leftOver(SMALL_REGIONS).size());
        assertEquals(Set.of(KIND, SMALL_REGIONS), groups.kinds());
        assertEquals(List.of(), groups.groups(new Kind("other", true, 1)));
    }

    @Test
    void smallCodesUseFixedPartsOfAGroup() {
        assertEquals(4, CodingGroup.parts(12, 2), "two copies: parts of three");
        assertEquals(3, CodingGroup.parts(12, 3));
        assertEquals(2, CodingGroup.parts(12, 4), "parts of six, one more than needed");
        assertEquals(2, CodingGroup.parts(12, 5));
        assertEquals(1, CodingGroup.parts(12, 6), "2 (k + r + 1) is above 12");
        assertEquals(1, CodingGroup.parts(12, 10));
        for (int splits = 1; splits < 20; splits++) {
            for (int size = splits; size < 40; size++) {
                int parts = CodingGroup.parts(size, splits);
                int[] sizes = CodingGroup.partSizes(size, splits);
                assertEquals(parts, sizes.length);
                assertEquals(size, Arrays.stream(sizes).sum());
                assertEquals(0, CodingGroup.partStart(size, parts, 0));
                assertEquals(size, CodingGroup.partStart(size, parts, parts));
                for (int part = 0; part < parts; part++) {
                    int start = CodingGroup.partStart(size, parts, part);
                    int end = CodingGroup.partStart(size, parts, part + 1);
                    assertTrue(end - start >= (parts == 1 ? splits : splits + 1), size + " " + splits);
                    assertEquals(part, CodingGroup.partOf(size, parts, start));
                    assertEquals(part, CodingGroup.partOf(size, parts, end - 1));
                }
            }
        }
    }

    @Test
    void theNextServerHasThePlaceOfTheOneThatLeft() {
        CodingGroups groups = of(12, 1, 12);
        CodingGroup group = groups.groups(KIND).getFirst();
        GroupServer gone = group.at(7);
        assertNull(groups.leave(gone.id()));
        assertNull(group.at(7));
        assertArrayEquals(new int[] {3, 3, 2, 3}, group.partMembers(2));
        assertNull(groups.join(server(100, group.at(0).domain())), "the group has its domain");
        assertSame(group, groups.join(server(101, "other")));
        assertEquals(7, groups.placeOf(101));
        assertEquals(1, groups.leftOver(KIND).size());
        // The left-over server has the domain of the first place, and follows there alone.
        assertNull(groups.leave(group.at(1).id()));
        assertEquals(100, groups.leave(group.at(0).id()).id());
        assertEquals(0, groups.placeOf(100));
        assertArrayEquals(new int[] {2, 3, 3, 3}, group.partMembers(2));
        assertEquals(-1, groups.placeOf(12345));
    }

    @Test
    void theLargestGroupsHaveParts() {
        int parts = CodingGroup.parts(CodingGroups.MOST_SIZE, 2);
        assertEquals(341, parts);
        int before = -1;
        for (int part = 0; part < parts; part++) {
            int start = CodingGroup.partStart(CodingGroups.MOST_SIZE, parts, part);
            assertTrue(start > before, "part " + part);
            assertEquals(part, CodingGroup.partOf(CodingGroups.MOST_SIZE, parts, start));
            before = start;
        }
    }

    /** Slabs of a group that has ended may still be named by its number. */
    @Test
    void aNumberNeverComesAgain() {
        CodingGroups groups = of(12, 1, 6);
        for (int id = 12; id < 17; id++) {
            groups.join(server(id, "rack" + id));
        }
        groups.form(_ -> false);
        long last = groups.lastNumber();
        assertTrue(last >= 3, "groups were made again");
        CodingGroup ended = groups.groups(KIND).stream()
                .filter(group -> group.number() == last)
                .findFirst()
                .orElseThrow();
        leave(groups, ended.servers());
        groups.form(_ -> true);
        assertEquals(last, groups.lastNumber());
        CodingGroups again = new CodingGroups(6, 4);
        for (CodingGroup group : groups.groups(KIND)) {
            group.servers().forEach(server -> again.restore(server, group.number(), groups.placeOf(server.id())));
        }
        again.restoreLastNumber(groups.lastNumber());
        for (int id = 20; id < 26; id++) {
            again.join(server(id, "new" + id));
        }
        again.form(_ -> true);
        assertEquals(last + 1, again.lastNumber());
        again.restoreLastNumber(1);
        assertEquals(last + 1, again.lastNumber());
    }

    /** Groups are the same after a change of the manager. */
    @Test
    void groupsAreRestoredAsTheyWere() {
        CodingGroups groups = of(100, 7, 6);
        groups.leave(3);
        groups.leave(50);
        CodingGroups again = new CodingGroups(6, 4);
        for (long id = 99; id >= 0; id--) {
            CodingGroup group = groups.groupOf(id);
            if (group != null) {
                again.restore(groups.find(id), group.number(), groups.placeOf(id));
            }
        }
        groups.leftOver(KIND).forEach(again::join);
        again.form(_ -> true);
        for (long id = 0; id < 100; id++) {
            assertEquals(number(groups.groupOf(id)), number(again.groupOf(id)), "server " + id);
            assertEquals(groups.placeOf(id), again.placeOf(id));
        }
        for (int id = 100; id < 112; id++) {
            again.join(server(id, "new" + id));
        }
        again.form(_ -> true);
        Set<Long> numbers = new HashSet<>();
        again.groups(KIND).forEach(group -> assertTrue(numbers.add(group.number()), "a number is used twice"));
        assertTrue(numbers.size() > groups.groups(KIND).size(), numbers::toString);
    }

    private static long number(CodingGroup group) {
        return group == null ? 0 : group.number();
    }

    @Test
    void whatCannotBeIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new CodingGroups(9, 10));
        assertThrows(IllegalArgumentException.class, () -> new CodingGroups(1, 1));
        assertThrows(IllegalArgumentException.class, () -> new CodingGroups(CodingGroups.MOST_SIZE + 1, 10));
        assertThrows(IllegalArgumentException.class, () -> server(1, " "));
        CodingGroups groups = new CodingGroups(3, 2);
        groups.restore(server(1, "a"), 4, 0);
        assertThrows(IllegalArgumentException.class, () -> groups.join(server(1, "b")));
        assertThrows(IllegalArgumentException.class, () -> groups.leave(2));
        assertThrows(IllegalArgumentException.class, () -> groups.restore(server(2, "b"), 4, 0), "the place is taken");
        assertThrows(IllegalArgumentException.class, () -> groups.restore(server(2, "a"), 4, 1), "the domain is there");
        assertThrows(IllegalArgumentException.class, () -> groups.restore(server(2, "b"), 4, 3), "there is no place");
        assertThrows(IllegalArgumentException.class, () -> groups.restore(server(2, "b"), 0, 1), "there is no group");
        assertThrows(
                IllegalArgumentException.class,
                () -> groups.restore(new GroupServer(2, "b", SMALL_REGIONS), 4, 1),
                "another kind");
        assertEquals(Set.of(KIND), groups.kinds());
        assertNull(groups.find(2));
        assertThrows(IllegalArgumentException.class, () -> groups.end(5), "there is no group");
        groups.form(_ -> false);
        assertNull(groups.groupOf(1), "a group of one server holds no range");
        assertNotNull(groups.find(1));
        assertFalse(groups.leftOver(KIND).isEmpty());
    }
}
