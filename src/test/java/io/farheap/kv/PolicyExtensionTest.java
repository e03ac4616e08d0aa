package io.farheap.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.BlockFormat;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.format.ValuePieces;
import io.farheap.kv.policy.Policies;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.RequestColumns;
import io.farheap.memory.NativeMemory;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.testing.Effort;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Policies that keep words of their own with each object. */
class PolicyExtensionTest {

    private static final long REGION_BYTES = 256 << 10;
    private static final MemorySegment ALL = NativeMemory.ALL;

    private TestSpace space;

    @AfterEach
    void close() {
        space.close();
    }

    private static byte[] key(int number) {
        return ("key" + number).getBytes(StandardCharsets.UTF_8);
    }

    private void open(String policy, long objects) {
        space = new TestSpace(1, 1, REGION_BYTES, objects, EvictionSettings.of(policy));
    }

    /** A value of which a segment has four. */
    private static final byte[] QUARTER = new byte[MapSession.MOST_OBJECT_BYTES - 200];

    private int blocks() {
        return (int) space.shape.segments(0) * 4;
    }

    @Test
    void lruKRemembersTheLastAccessButOne() {
        open("lru-k:2", 8);
        try (MapSession session = space.map.openSession()) {
            int blocks = blocks();
            assertTrue(blocks >= 8 && blocks <= 16, blocks + " blocks");
            for (int number = 0; number < blocks; number++) {
                session.set(key(number), QUARTER);
            }
            session.get(key(0));
            session.get(key(0));
            for (int number = 2; number < blocks; number++) {
                session.get(key(number));
            }
            // Object 0 has the oldest last access and the oldest insertion; object 1 the oldest last access but one.
            session.get(key(1));
            session.set(key(blocks), QUARTER);
            assertTrue(session.get(key(1)) == null, "the last access but one is the oldest");
            assertNotNull(session.get(key(0)), "the last access is the oldest");
        }
    }

    @Test
    void whatAPolicyKeepsFollowsTheObjectToItsNextBlock() {
        open("lfuda,lru-k:3", 8);
        try (MapSession session = space.map.openSession()) {
            session.set(key(0), new byte[10]);
            long[] first = extension(session, key(0));
            assertTrue(first[1] > 0 && first[2] == 0 && first[3] == 0, Arrays.toString(first));
            long[] second = extension(session, key(0));
            assertTrue(second[1] > first[1] && second[2] == first[1] && second[3] == 0, Arrays.toString(second));
            session.set(key(0), new byte[500]);
            long[] third = extension(session, key(0));
            assertTrue(third[1] > second[1] && third[3] == second[1], Arrays.toString(third));
        }
    }

    /** @return the policy's words in the block that a get reads, which are those from before that get */
    private static long[] extension(MapSession session, byte[] key) {
        long[] words = new long[4];
        assertTrue(session.get(MemorySegment.ofArray(key), 0));
        int[] handed = new int[1];
        while (handed[0] == 0) {
            session.poll((tag, status, memory, at, bytes) -> {
                assertEquals(KvStatus.DONE, status);
                handed[0]++;
                long block = at - BlockFormat.valueAt(4 * Long.BYTES, key.length);
                for (int i = 0; i < words.length; i++) {
                    words[i] = memory.get(JAVA_LONG, BlockFormat.extensionAt(block) + (long) i * Long.BYTES);
                }
            });
        }
        return words;
    }

    /** The extension's WRITE was posted for an object whose block is a piece of another object by now. */
    @Test
    void anExtensionThatComesLateDoesNotBreakAPiece() {
        open("lru-k:4", 8);
        byte[] value = new byte[60_000];
        new SplittableRandom(3).nextBytes(value);
        int extensionBytes = 4 * Long.BYTES;
        try (MapSession session = space.map.openSession();
                RemoteQueue queue = space.memory.openQueue(QueueOptions.DEFAULT);
                RegisteredBuffer copy = space.memory.register(REGION_BYTES)) {
            session.set(key(0), value);
            RemoteRegion region = space.regions.getFirst();
            assertEquals(PostResult.DONE, queue.execute(false, region, 0, copy, 0, (int) REGION_BYTES, 0));
            long start = copy.segment().address();
            int pieces = 0;
            for (int at = 0; at < REGION_BYTES; at += BlockFormat.UNIT_BYTES) {
                long block = start + at;
                int most = (int) Math.min(REGION_BYTES - at, RequestColumns.MOST_BLOCK_BYTES);
                if (BlockFormat.whole(ALL, block, most, BlockFormat.incarnation(ALL, block), TestKeys.CHECKSUM)
                        && BlockFormat.kind(ALL, block) == BlockFormat.PIECE) {
                    pieces++;
                    long late = BlockFormat.extensionAt(at);
                    copy.segment().asSlice(late, extensionBytes).fill((byte) -1);
                    assertEquals(PostResult.DONE, queue.execute(true, region, late, copy, late, extensionBytes, 0));
                }
            }
            assertEquals(ValuePieces.count(extensionBytes, value.length), pieces);
            assertArrayEquals(value, session.get(key(0)));
            assertEquals(0, session.requests().counts().of(MapSessionCounts.UNLINKED));
        }
    }

    static Iterable<String> all() {
        return Policies.names();
    }

    @ParameterizedTest
    @MethodSource("all")
    @ValueSource(strings = {"lru-k:4", "lirs,lfuda,lru", "gds,gdsf,lrfu"})
    void whatIsFoundIsWhatWasSetLast(String policy) {
        open(policy, 200);
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        Map<Integer, byte[]> model = new HashMap<>();
        int hits = 0;
        try (MapSession session = space.map.openSession();
                MapSession other = space.map.openSession()) {
            for (int i = 0; i < Effort.either(3_000, 6_000); i++) {
                int number = Math.min(random.nextInt(400), random.nextInt(400));
                MapSession by = random.nextBoolean() ? session : other;
                if (random.nextInt(3) > 0) {
                    byte[] found = by.get(key(number));
                    if (found != null) {
                        hits++;
                        assertArrayEquals(model.get(number), found, "seed " + seed + ", request " + i);
                    }
                } else {
                    byte[] value = new byte[1000];
                    random.nextBytes(value);
                    by.set(key(number), value);
                    model.put(number, value);
                }
            }
            assertTrue(
                    session.requests().counts().of(MapSessionCounts.EVICTED)
                                    + other.requests().counts().of(MapSessionCounts.EVICTED)
                            > 100,
                    "evictions");
            assertTrue(hits > 100, hits + " hits");
        }
    }

    @Test
    void moreThanBlocksHaveRoomForIsRefused() {
        open("lru-k:2", 8);
        String message = assertThrows(IllegalArgumentException.class, () -> EvictionSettings.of("lru-k:4,lfuda"))
                .getMessage();
        assertTrue(message.contains("5 words") && message.contains("4"), message);
    }

    @Test
    void whatAPolicyKeepsLeavesLessRoomForAValueInOneBlock() {
        open("lru-k:4", 8);
        int most = MapSession.MOST_OBJECT_BYTES - 4 * Long.BYTES - 8;
        try (MapSession session = space.map.openSession()) {
            for (int bytes : new int[] {most, most + 1, 3 * most}) {
                byte[] value = new byte[bytes];
                Arrays.fill(value, (byte) bytes);
                session.set(key(1), value);
                assertArrayEquals(value, session.get(key(1)));
                assertArrayEquals(value, session.get(key(1)));
            }
        }
    }
}
