package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.SlotWord;
import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Maps on a device whose queue pairs take fewer operations than a session's requests need together. */
@Needs(Need.SOFTVERBS)
class ShallowQueueTest {

    private static final int REQUESTS = 16;

    @BeforeEach
    void shallow() {
        Softverbs.set("depth=8");
    }

    @AfterEach
    void deep() {
        Softverbs.set("qp_error_after=0 depth=0");
    }

    static Stream<Arguments> maps() {
        return Effort.variants(
                1,
                arguments(64, 3, 10, 256, true, 2),
                arguments(64, 3, 10, 256, false, 254),
                arguments(400, 2, 100, 256, false, 254));
    }

    @ParameterizedTest
    @MethodSource("maps")
    void eachKeyIsLinearizable(int keys, int threads, long objects, int room, boolean alike, int mostUnits)
            throws Exception {
        MapHistoryTest.run(keys, threads, objects, room, alike, mostUnits, MapHistoryTest.Beside.NOTHING);
    }

    /** A mark or a swap may be what finds no room, and a connection may be replaced before there is. */
    @Test
    void eachKeyIsLinearizableWhileQueuePairsFail() throws Exception {
        MapHistoryTest.run(8, 2, 1000, 2048, true, SlotWord.MOST_UNITS, MapHistoryTest.Beside.FAILURES);
    }

    @Test
    void valuesInManyPiecesComeBack() {
        try (TestSpace space = new TestSpace(2, 2, 4 << 20, 100);
                MapSession session = space.map.openSession()) {
            byte[] value = new byte[1 << 20];
            for (int i = 0; i < value.length; i++) {
                value[i] = (byte) (i * 31 >> 8 ^ i);
            }
            session.set(new byte[] {1}, value);
            assertArrayEquals(value, session.get(new byte[] {1}));
        }
    }

    @Test
    void requestsThatWaitForRoomEndWhereTheServerIsLost() {
        try (Arena arena = Arena.ofConfined();
                TestSpace space = new TestSpace(1, 2, 1 << 20, 100);
                MapSession session = space.map.openSession(REQUESTS)) {
            List<MemorySegment> keys = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                session.set(new byte[] {(byte) i}, new byte[] {1});
                keys.add(arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) i));
            }
            space.stop(0);
            for (int i = 0; i < REQUESTS; i++) {
                assertTrue(session.get(keys.get(i), i));
            }
            assertEquals(REQUESTS, session.inFlight());
            BitSet ended = new BitSet();
            while (session.inFlight() > 0) {
                session.poll((tag, status, value, at, bytes) -> {
                    assertEquals(KvStatus.LOST, status);
                    ended.set((int) tag);
                });
            }
            assertEquals(REQUESTS, ended.cardinality());
        }
    }

    @Test
    void requestsThatWaitForRoomGoOnWhereTheQueuePairHasFailed() {
        try (TestSpace space = new TestSpace(1, 2, 1 << 20, 100);
                MapSession session = space.map.openSession(REQUESTS)) {
            List<byte[]> keys = new ArrayList<>();
            for (int i = 0; i < 4 * REQUESTS; i++) {
                keys.add(new byte[] {(byte) i});
                session.set(keys.get(i), new byte[] {(byte) i});
            }
            Softverbs.set("qp_error_after=11");
            List<byte[]> found = session.getAll(keys);
            for (int i = 0; i < keys.size(); i++) {
                assertArrayEquals(keys.get(i), found.get(i));
            }
            assertTrue(session.requests().connections().begun() > 0, "nothing has failed");
        }
    }
}
