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

    private static void check(CodingGroups groups, Set<Long> servers, int least) {
        int seen = 0;
        for (Kind kind : groups.kinds()) {
            for (CodingGroup group : groups.groups(kind)) {
                List<GroupServer> members = group.servers();
                assertEquals(members.size(), group.members());
                assertTrue(members.size() >= least, group::toString);
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

    /**
     * A join moves no other server. A leave moves at most the left-over server that takes the place. Groups that are
     * formed later leave groups with slabs alone, unless these have too few servers for a range.
     */
    @Test
    void aThousandJoinsAndLeavesMoveOnlyWhatMust() {
        int least = 4;
        SplittableRandom random = new SplittableRandom(52);
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
            check(groups, servers, 0);
            if (random.nextInt(20) == 0) {
                Map<Long, Seat> still = seats(groups, servers);
                Set<Long> used = new HashSet<>();
                for (long server : servers) {
                    CodingGroup group = groups.groupOf(server);
                    if (group != null
                            && group.members() >= least
                            && group.servers().stream().anyMatch(member -> member.id() % 7 == 0)) {
                        used.add(server);
                    }
                }
                for (Kind kind : groups.kinds()) {
                    small += groups.groups(kind).stream()
                            .filter(group -> group.members() < least)
                            .count();
                }
                groups.form(server -> server % 7 == 0);
                Map<Long, Seat> after = seats(groups, servers);
                used.forEach(server -> assertEquals(still.get(server), after.get(server), "a slab has to move"));
                check(groups, servers, least);
                groups.kinds()
                        .forEach(
                                kind -> assertTrue(groups.leftOverByDomain(kind).size() < groups.size()));
            }
        }
        assertTrue(small > 5 && followed > 20, small + " groups were small, " + followed + " places were taken");
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
        CodingGroups few = of(100, 10, 12);
        assertEquals(0, few.groups(KIND).size(), "ten racks are too few domains for twelve servers");
        assertEquals(100, few.leftOver(KIND).size());
    }

    /** Left-over servers of too few domains make groups with the servers of groups that no range uses. */
    @Test
    void groupsThatAreMadeLaterUseUnusedOnesToo() {
        CodingGroups groups = of(24, 2, 12);
        assertEquals(2, groups.groups(KIND).size());
        for (int id = 24; id < 36; id++) {
            groups.join(server(id, "rack12"));
        }
        for (int id = 36; id < 45; id++) {
            groups.join(server(id, "rack" + id));
        }
        groups.form(_ -> true);
        assertEquals(2, groups.groups(KIND).size(), "ten domains are left over");
        assertEquals(21, groups.leftOver(KIND).size());
        groups.join(server(45, "rack45"));
        groups.form(_ -> false);
        assertEquals(3, groups.groups(KIND).size());
        assertEquals(10, groups.leftOver(KIND).size());
    }

    @Test
    void kindsAndRegionSizesAreNotMixed() {
        CodingGroups groups = new CodingGroups(3, 2);
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
        groups.form(_ -> true);
        assertNull(groups.groupOf(1), "a group of one server holds no range");
        assertNotNull(groups.find(1));
        assertFalse(groups.leftOver(KIND).isEmpty());
    }
}
