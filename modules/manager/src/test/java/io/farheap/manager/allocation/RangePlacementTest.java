package io.farheap.manager.allocation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
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

/** The choice of a coded range's servers: in groups, and at random. */
class RangePlacementTest {

    private static final Kind KIND = new Kind("large", false, 1L << 30);

    private final SplittableRandom random = new SplittableRandom(8);
    /** By server; a server that is not there has a load of 0. */
    private final Map<Long, Double> loads = new HashMap<>();

    private double load(GroupServer server) {
        return loads.getOrDefault(server.id(), 0.0);
    }

    private static List<GroupServer> servers(int count, int perDomain) {
        List<GroupServer> servers = new ArrayList<>();
        for (int id = 0; id < count; id++) {
            servers.add(new GroupServer(id, "rack" + id / perDomain, KIND));
        }
        return servers;
    }

    private static CodingGroups groups(int count, int size, int least) {
        CodingGroups groups = new CodingGroups(size, least);
        servers(count, 1).forEach(groups::join);
        groups.form(_ -> false);
        return groups;
    }

    private GroupPlacement in(CodingGroups groups, int candidates) {
        return new GroupPlacement(groups, KIND, random, candidates);
    }

    private static Set<Long> ids(List<GroupServer> servers) {
        Set<Long> ids = new HashSet<>();
        servers.forEach(server -> assertTrue(ids.add(server.id()), "a server is chosen twice"));
        return ids;
    }

    @Test
    void aRangeTakesTheLeastLoadedServersOfAGroup() {
        CodingGroups groups = groups(6, 6, 4);
        loads.putAll(Map.of(0L, 5.0, 1L, 1.0, 2L, 4.0, 3L, 2.0, 4L, 3.0, 5L, 0.0));
        assertEquals(Set.of(5L, 1L, 3L, 4L), ids(in(groups, 1).choose(4, this::load)));
        loads.put(1L, RangePlacement.FULL);
        loads.put(3L, RangePlacement.FULL);
        assertEquals(Set.of(5L, 4L, 2L, 0L), ids(in(groups, 2).choose(4, this::load)));
        loads.put(5L, RangePlacement.FULL);
        assertNull(in(groups, 2).choose(4, this::load), "three servers have room");
        assertNull(in(groups, 1).choose(7, this::load), "a group has six servers");
    }

    /** Sets of servers come again, so that fewer sets of r + 1 servers lose data together. */
    @Test
    void equallyLoadedServersAreTakenInTheOrderOfTheirPlaces() {
        CodingGroups groups = groups(10, 10, 6);
        GroupPlacement placement = in(groups, 1);
        Set<Set<Long>> sets = new HashSet<>();
        for (int i = 0; i < 100; i++) {
            List<GroupServer> chosen = placement.choose(6, this::load);
            chosen.forEach(server -> loads.merge(server.id(), 1.0, Double::sum));
            sets.add(ids(chosen));
        }
        assertEquals(5, sets.size(), "five ranges fill ten servers evenly, and begin again");
    }

    @Test
    void ofTwoGroupsTheEmptierIsTaken() {
        CodingGroups groups = groups(12, 6, 4);
        CodingGroup loaded = groups.groups(KIND).getFirst();
        loaded.servers().forEach(server -> loads.put(server.id(), 1.0));
        for (int i = 0; i < 50; i++) {
            for (GroupServer server : in(groups, 2).choose(4, this::load)) {
                assertFalse(loaded == groups.groupOf(server.id()), "the fuller group was taken");
            }
        }
    }

    /** All other groups are full, so no random choice need find it. */
    @Test
    void theOnlyGroupWithRoomIsFound() {
        CodingGroups groups = groups(600, 6, 4);
        CodingGroup empty = groups.groups(KIND).get(77);
        for (long id = 0; id < 600; id++) {
            if (groups.groupOf(id) != empty) {
                loads.put(id, RangePlacement.FULL);
            }
        }
        for (int candidates = 1; candidates <= 2; candidates++) {
            List<GroupServer> chosen = in(groups, candidates).choose(4, this::load);
            assertNotNull(chosen);
            chosen.forEach(server -> assertTrue(empty == groups.groupOf(server.id())));
        }
    }

    @Test
    void aSmallCodesRangesStayInOnePart() {
        CodingGroups groups = groups(24, 12, 10);
        GroupPlacement placement = in(groups, 2);
        Set<String> parts = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            List<GroupServer> chosen = placement.choose(2, this::load);
            Set<String> found = new HashSet<>();
            for (GroupServer server : chosen) {
                loads.merge(server.id(), 1.0, Double::sum);
                found.add(groups.groupOf(server.id()).number() + "/" + groups.placeOf(server.id()) / 3);
            }
            assertEquals(1, found.size(), found::toString);
            parts.addAll(found);
            assertEquals(List.of(), placement.outside(chosen, 2));
            SlabChoice other = placement.replace(chosen.subList(0, 1), 2, this::load);
            assertFalse(other.outside());
            assertTrue(found.contains(groups.groupOf(other.server().id()).number() + "/"
                    + groups.placeOf(other.server().id()) / 3));
        }
        assertEquals(8, parts.size(), parts::toString);
    }

    @Test
    void aLostSlabStaysInItsGroupIfThereIsRoomAndGoesToLeftOverServersElse() {
        CodingGroups groups = groups(13, 6, 4);
        GroupPlacement placement = in(groups, 2);
        GroupServer left = groups.leftOver(KIND).getFirst();
        List<GroupServer> group = groups.groups(KIND).getFirst().servers();
        List<GroupServer> rest = group.subList(0, 3);
        loads.put(group.get(3).id(), 2.0);
        loads.put(group.get(4).id(), 1.0);
        loads.put(group.get(5).id(), 3.0);
        assertEquals(new SlabChoice(group.get(4), false), placement.replace(rest, 4, this::load));
        for (int place = 3; place < 6; place++) {
            loads.put(group.get(place).id(), RangePlacement.FULL);
        }
        SlabChoice outside = placement.replace(rest, 4, this::load);
        assertEquals(new SlabChoice(left, true), outside);
        List<GroupServer> range = new ArrayList<>(rest);
        range.add(outside.server());
        assertEquals(List.of(left), placement.outside(range, 4), "it should come back");
        loads.put(left.id(), RangePlacement.FULL);
        SlabChoice elsewhere = placement.replace(rest, 4, this::load);
        assertTrue(elsewhere.outside());
        assertEquals(
                groups.groups(KIND).get(1), groups.groupOf(elsewhere.server().id()));
        for (GroupServer server : groups.groups(KIND).get(1).servers()) {
            loads.put(server.id(), RangePlacement.FULL);
        }
        assertNull(placement.replace(rest, 4, this::load));
    }

    @Test
    void aSlabNeverSharesADomain() {
        CodingGroups groups = new CodingGroups(3, 2);
        for (int id = 0; id < 3; id++) {
            groups.join(new GroupServer(id, "d" + id, KIND));
        }
        groups.form(_ -> false);
        groups.join(new GroupServer(3, "d0", KIND));
        GroupPlacement placement = in(groups, 1);
        List<GroupServer> rest = List.of(groups.find(0), groups.find(1));
        loads.put(2L, RangePlacement.FULL);
        assertNull(placement.replace(rest, 3, this::load), "the left-over server has the first one's domain");
        List<GroupServer> unknown = List.of(new GroupServer(9, "gone", KIND));
        assertEquals(unknown, placement.outside(unknown, 3));
        assertTrue(placement.replace(unknown, 3, this::load).outside(), "no slab of the range is in a group");
    }

    @Test
    void randomServersHaveDifferentDomainsAndRoom() {
        List<GroupServer> servers = servers(40, 4);
        for (int candidates = 1; candidates <= 2; candidates++) {
            RandomPlacement placement = new RandomPlacement(servers, random, candidates);
            loads.clear();
            loads.put(5L, RangePlacement.FULL);
            for (int i = 0; i < 200; i++) {
                List<GroupServer> chosen = placement.choose(10, this::load);
                assertEquals(
                        10, chosen.stream().map(GroupServer::domain).distinct().count());
                assertFalse(ids(chosen).contains(5L));
                SlabChoice last = placement.replace(chosen.subList(1, 10), 10, this::load);
                assertEquals(chosen.getFirst().domain(), last.server().domain(), "only one domain is free");
                assertFalse(last.outside());
                assertEquals(List.of(), placement.outside(chosen, 10));
            }
            for (long id = 8; id < 12; id++) {
                loads.put(id, RangePlacement.FULL);
            }
            assertNull(placement.choose(10, this::load), "nine domains have room");
            assertNotNull(placement.choose(9, this::load));
        }
        assertNull(new RandomPlacement(List.of(), random, 1).choose(1, this::load));
    }

    @Test
    void ofTwoServersTheLessLoadedIsTaken() {
        RandomPlacement placement = new RandomPlacement(servers(100, 1), random, 2);
        RandomPlacement blind = new RandomPlacement(servers(100, 1), random, 1);
        assertTrue(most(placement) < most(blind), "two choices are no better than one");
    }

    /** Returns the slabs of the fullest server after 1,000 ranges of 4. */
    private double most(RangePlacement placement) {
        loads.clear();
        for (int i = 0; i < 1_000; i++) {
            placement.choose(4, this::load).forEach(server -> loads.merge(server.id(), 1.0, Double::sum));
        }
        return loads.values().stream().mapToDouble(Double::doubleValue).max().orElseThrow();
    }

    @Test
    void otherNumbersOfCandidatesAreRefused() {
        CodingGroups groups = groups(6, 6, 4);
        assertThrows(IllegalArgumentException.class, () -> in(groups, 0));
        assertThrows(IllegalArgumentException.class, () -> in(groups, 3));
        assertThrows(IllegalArgumentException.class, () -> new RandomPlacement(List.of(), random, 0));
        assertThrows(IllegalArgumentException.class, () -> new RandomPlacement(List.of(), random, 3));
    }
}
