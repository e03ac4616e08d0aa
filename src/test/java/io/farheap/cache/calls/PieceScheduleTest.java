package io.farheap.cache.calls;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Which piece of a range is called next. */
class PieceScheduleTest {

    private static final long REGION = 1024;
    private static final int MOST = 64;

    private record Piece(long from, long end) {}

    private final PieceSchedule schedule = new PieceSchedule();
    private final List<Piece> taken = new ArrayList<>();

    /** @param servers the servers of the regions from 0 on */
    private void begin(long from, long bytes, long piece, String... servers) {
        schedule.begin(from, bytes, piece, REGION, region -> servers[region].intern());
    }

    private boolean take(int moving, boolean lowestOnly) {
        if (!schedule.take(moving, lowestOnly, MOST)) {
            return false;
        }
        taken.add(new Piece(schedule.address(), schedule.addressEnd()));
        return true;
    }

    private void takeAll() {
        while (take(-1, false)) {
            schedule.ended(schedule.lane());
        }
        assertTrue(schedule.isEmpty());
    }

    private long region(int piece) {
        return taken.get(piece).from() / REGION;
    }

    @Test
    void aPieceEndsWhereItsRegionOrTheRangeEnds() {
        begin(1000, 1100, 500, "a", "a", "a");
        takeAll();
        assertEquals(
                List.of(
                        new Piece(1000, 1024),
                        new Piece(1024, 1524),
                        new Piece(1524, 2024),
                        new Piece(2024, 2048),
                        new Piece(2048, 2100)),
                taken);
    }

    @Test
    void aPieceThatIsLargerThanARegionIsTheRegion() {
        begin(0, 2 * REGION, Long.MAX_VALUE, "a", "b");
        takeAll();
        assertEquals(List.of(new Piece(0, REGION), new Piece(REGION, 2 * REGION)), taken);
    }

    /** The regions of each server follow one another: in the order of addresses one server would have all calls. */
    @Test
    void serversTakeTurns() {
        begin(0, 4 * REGION, 8, "a", "a", "b", "b");
        for (int i = 0; i < MOST; i++) {
            assertTrue(take(-1, false));
            assertEquals(i % 2 * 2, region(i));
        }
    }

    @Test
    void noServerHasMoreThanItsShare() {
        begin(0, 2 * REGION, 8, "a", "b");
        List<Integer> lanes = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            assertTrue(take(-1, false));
            lanes.add(schedule.lane());
        }
        assertFalse(take(-1, false), "each server has half of the calls");
        int lane = lanes.getFirst();
        schedule.ended(lane);
        assertTrue(take(-1, false));
        assertEquals(lane, schedule.lane());
        // Once one server has no piece left, the other has all calls.
        begin(0, REGION + 8, 8, "a", "b");
        for (int i = 0; i < MOST + 1; i++) {
            assertTrue(take(-1, false), "piece " + i);
        }
    }

    @Test
    void aServerThatRefusesCallsHasFewerUnderWay() {
        begin(0, 2 * REGION, 8, "a", "b");
        List<Integer> lanes = new ArrayList<>();
        for (int i = 0; i < MOST; i++) {
            assertTrue(take(-1, false));
            lanes.add(schedule.lane());
        }
        int lane = lanes.getFirst();
        for (int i = 0; i < MOST / 2; i++) {
            schedule.refused(lane);
        }
        // It may have one, and one more after each 4 calls that have ended, times its share.
        for (int i = 0; i < MOST / 2 - 4; i++) {
            schedule.ended(lane);
            assertFalse(take(-1, false), "it has " + (MOST / 2 - 1 - i));
        }
        schedule.ended(lane);
        assertTrue(take(-1, false));
        assertEquals(lane, schedule.lane());
        assertFalse(take(-1, false));
    }

    @Test
    void aRegionThatMovesIsLeftOutUntilItHasMoved() {
        begin(0, 3 * REGION, 512, "a", "a", "a");
        assertTrue(take(-1, false));
        for (int i = 0; i < 4; i++) {
            assertTrue(take(0, false));
        }
        assertFalse(take(0, false));
        assertFalse(take(0, true));
        assertFalse(schedule.isEmpty());
        assertEquals(512, schedule.lowestAddress());
        assertTrue(take(1, false));
        assertTrue(schedule.isEmpty());
        assertEquals(
                List.of(0L, 1L, 1L, 2L, 2L, 0L),
                taken.stream().map(piece -> piece.from() / REGION).toList());
    }

    @Test
    void theLowestPieceIsTakenIfNoOtherMayBe() {
        begin(0, 4 * REGION, 512, "a", "b", "a", "b");
        for (int i = 0; i < 8; i++) {
            assertTrue(take(-1, true));
        }
        assertFalse(take(-1, true));
        for (int i = 0; i < 8; i++) {
            assertEquals(512L * i, taken.get(i).from());
        }
    }

    /** An object is used for a large range, then for a small one, and so on. */
    @Test
    void eachByteIsInOnePiece() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 200; round++) {
            int regions = random.nextInt(1, 40);
            int servers = random.nextInt(1, 9);
            String[] at =
                    random.ints(regions, 0, servers).mapToObj(Integer::toString).toArray(String[]::new);
            long from = random.nextLong(regions * REGION);
            long bytes = random.nextLong(1, regions * REGION - from + 1);
            taken.clear();
            begin(from, bytes, random.nextLong(random.nextBoolean() ? 64 : 2 * REGION) + 64, at);
            int[] underWay = new int[servers];
            int sum = 0;
            int moving = -1;
            while (!schedule.isEmpty()) {
                if (random.nextInt(4) == 0) {
                    moving = random.nextInt(-1, regions);
                }
                if (sum < MOST && take(moving, random.nextInt(8) == 0)) {
                    assertTrue(region(taken.size() - 1) != moving, () -> "it moves, seed " + seed);
                    underWay[schedule.lane()]++;
                    sum++;
                } else {
                    moving = -1;
                    int lane = random.nextInt(servers);
                    if (underWay[lane] > 0) {
                        underWay[lane]--;
                        sum--;
                        schedule.ended(lane);
                    }
                }
            }
            taken.sort((one, other) -> Long.compare(one.from(), other.from()));
            long next = from;
            for (Piece piece : taken) {
                assertEquals(next, piece.from(), () -> "seed " + seed);
                assertEquals(piece.from() / REGION, (piece.end() - 1) / REGION, () -> "seed " + seed);
                next = piece.end();
            }
            assertEquals(from + bytes, next, () -> "seed " + seed + " " + Arrays.toString(at));
        }
    }
}
