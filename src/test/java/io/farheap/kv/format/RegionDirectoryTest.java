package io.farheap.kv.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RegionDirectoryTest {

    private static final long REGION_BYTES = 1 << 20;

    @Test
    void eachNumberIsOneRegionForEver() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 50; round++) {
            int servers = random.nextInt(1, 5);
            int each = random.nextInt(1, 4);
            RegionDirectory layout = RegionDirectory.of(servers, each, SpaceShape.of(REGION_BYTES, servers * each, 10));
            RegionDirectory before = layout;
            for (int growth = 0; growth < random.nextInt(10); growth++) {
                int server = random.nextInt(servers);
                before = layout;
                layout =
                        layout.with(new RegionDirectory.Growth(server, layout.regionsOf(server), random.nextInt(1, 6)));
            }
            Set<Long> found = new HashSet<>();
            int[] counts = new int[servers];
            for (int number = 0; number < layout.regions(); number++) {
                int server = layout.serverOf(number);
                int index = layout.indexOf(number);
                assertTrue(index >= 0 && index < layout.regionsOf(server), "seed " + seed);
                assertTrue(found.add((long) server << 32 | index), "seed " + seed);
                counts[server]++;
                if (number < before.regions()) {
                    assertEquals(before.serverOf(number), server, "seed " + seed);
                    assertEquals(before.indexOf(number), index, "seed " + seed);
                }
            }
            for (int server = 0; server < servers; server++) {
                assertEquals(layout.regionsOf(server), counts[server], "seed " + seed);
            }
        }
    }

    @Test
    void serversJoinAndLeaveAndKeepTheirNumbers() {
        RegionDirectory layout = RegionDirectory.of(2, 3, SpaceShape.of(REGION_BYTES, 6, 10))
                .with(new RegionDirectory.Growth(2, 0, 4))
                .with(new RegionDirectory.Growth(3, 0, 1))
                .with(new RegionDirectory.Growth(1, 3, 2));
        assertEquals(4, layout.servers());
        RegionDirectory left = layout.with(new RegionDirectory.Growth(2, 4, 0));
        assertTrue(left.hasLeft(2));
        assertThrows(IllegalArgumentException.class, () -> left.with(new RegionDirectory.Growth(2, 4, 1)));
        RegionDirectory more = left.with(new RegionDirectory.Growth(4, 0, 2)).with(new RegionDirectory.Growth(3, 1, 1));
        int[] serverOf = {0, 1, 0, 1, 0, 1, 2, 2, 2, 2, 3, 1, 1, 4, 4, 3};
        int[] indexOf = {0, 0, 1, 1, 2, 2, 0, 1, 2, 3, 0, 3, 4, 0, 1, 1};
        assertEquals(serverOf.length, more.regions());
        for (int number = 0; number < serverOf.length; number++) {
            assertEquals(serverOf[number], more.serverOf(number), "region " + number);
            assertEquals(indexOf[number], more.indexOf(number), "region " + number);
        }
    }

    /** Numbers of lost regions name nothing else, and the table has all of its regions again. */
    @Test
    void aLostPartOfTheTableIsElsewhere() {
        RegionDirectory layout = RegionDirectory.of(3, 3, SpaceShape.of(REGION_BYTES, 9, 10));
        assertThrows(IllegalArgumentException.class, () -> layout.with(RegionDirectory.Growth.leaving(1, 3)));
        RegionDirectory moved = layout.with(new RegionDirectory.Growth(0, 3, 2, 1))
                .with(new RegionDirectory.Growth(2, 3, 1, 7))
                .with(RegionDirectory.Growth.leaving(1, 3));
        int[] at = {0, 9, 2, 3, 10, 5, 6, 11, 8};
        for (int region = 0; region < at.length; region++) {
            assertEquals(at[region], moved.tableAt(region), "region " + region);
            assertTrue(moved.hadTable(at[region]));
        }
        assertEquals(1, moved.serverOf(4), "blocks there are where they were");
        assertEquals(0, moved.serverOfTable(4));
        assertEquals(2, moved.retired());
        assertEquals(3, moved.growths());
        assertEquals(layout.growths(), moved.first(0).growths());
        RegionDirectory again = moved.with(new RegionDirectory.Growth(0, 5, 1, 2))
                .with(new RegionDirectory.Growth(0, 6, 2, 5))
                .with(new RegionDirectory.Growth(0, 8, 1, 7))
                .with(RegionDirectory.Growth.leaving(2, 4));
        for (int region = 0; region < at.length; region++) {
            assertEquals(0, again.serverOfTable(region), "region " + region);
        }
        assertEquals(6, again.retired());
        for (RegionDirectory.Growth wrong : new RegionDirectory.Growth[] {
            new RegionDirectory.Growth(0, 3, 3, 4),
            new RegionDirectory.Growth(0, 3, 1, 9),
            new RegionDirectory.Growth(0, 3, 1, -2),
            new RegionDirectory.Growth(3, 0, 1, 1)
        }) {
            assertThrows(IllegalArgumentException.class, () -> layout.with(wrong), wrong::toString);
        }
    }

    @Test
    void whatDoesNotFollowIsRefused() {
        RegionDirectory layout = RegionDirectory.of(2, 3, SpaceShape.of(REGION_BYTES, 6, 10));
        int[][] wrong = {
            {2, 3, 1},
            {3, 0, 1},
            {2, 0, 0},
            {-1, 3, 1},
            {0, 2, 1},
            {0, 4, 1},
            {0, 3, 0},
            {0, 3, -1},
            {1, 3, Integer.MAX_VALUE}
        };
        for (int[] each : wrong) {
            RegionDirectory.Growth growth = new RegionDirectory.Growth(each[0], each[1], each[2]);
            assertThrows(IllegalArgumentException.class, () -> layout.with(growth), growth::toString);
        }
    }
}
