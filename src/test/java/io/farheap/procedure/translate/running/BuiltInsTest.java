package io.farheap.procedure.translate.running;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.builtin.Aggregate;
import io.farheap.procedure.builtin.Append;
import io.farheap.procedure.builtin.BuiltIns;
import io.farheap.procedure.builtin.Chase;
import io.farheap.procedure.builtin.ChaseToKey;
import io.farheap.procedure.builtin.CompareAndSetWords;
import io.farheap.procedure.builtin.Filter;
import io.farheap.procedure.builtin.HashGet;
import io.farheap.procedure.builtin.TreeGet;
import io.farheap.procedure.builtin.TreeRange;
import io.farheap.procedure.translate.Compiled;
import java.lang.foreign.ValueLayout;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The built-in procedures, as plain Java and translated, in each way. */
class BuiltInsTest {

    private final Stage stage = new Stage();
    private long free = 8;

    @AfterEach
    void close() {
        assertTrue(stage.guardsHold(), "bytes around the memory have changed");
        stage.close();
    }

    /** Allocates bytes of the cache within one region; returns their address, a multiple of 8. */
    private long allocate(int bytes) {
        if (free % Stage.REGION_BYTES + bytes > Stage.REGION_BYTES) {
            free = (free / Stage.REGION_BYTES + 1) * Stage.REGION_BYTES;
        }
        long at = free;
        free += (bytes + 7) & -8;
        return at;
    }

    private static long word(Stage.Outcome outcome, int at) {
        return outcome.result().get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    }

    @Test
    void allAreAdmitted() {
        for (Class<?> type : BuiltIns.ALL) {
            Translation translation = Compiled.of(type).translated();
            assertEquals(type.getName(), translation.name().replace('/', '.'));
            boolean writes = type == Append.class || type == CompareAndSetWords.class;
            assertEquals(writes, translation.writes(), type.getName());
        }
    }

    @Test
    void chases() {
        long next = 0;
        for (int i = 0; i < 30; i++) {
            long node = allocate(400);
            stage.put(node + 16, next);
            stage.put(node + 8, 1000 + i);
            next = node;
        }
        Stage.Outcome outcome = stage.same(Compiled.of(Chase.class), next, 16, 29);
        assertEquals(1, outcome.code());
        assertEquals(8, word(outcome, 0));
        outcome = stage.same(Compiled.of(Chase.class), next, 16, 99);
        assertEquals(0, outcome.code());
        assertEquals(30, word(outcome, 8));
        outcome = stage.same(Compiled.of(ChaseToKey.class), next, 16, 8, 1004);
        assertEquals(1, outcome.code());
        assertEquals(25, word(outcome, 8));
        assertEquals(
                0, stage.same(Compiled.of(ChaseToKey.class), next, 16, 8, 5).code());
    }

    @Test
    void scans() {
        for (int i = 0; i < 100; i++) {
            stage.put(4000 + i * 24, 0);
            stage.put(4000 + i * 24 + 8, i % 10);
            stage.put(4000 + i * 24 + 16, i);
        }
        Stage.Outcome outcome = stage.same(Compiled.of(Aggregate.class), 4000, 100, 24, 8, 3, 4, 16);
        assertEquals(20, word(outcome, 0));
        assertEquals(10 * (3 + 4) + 2 * 450, word(outcome, 8));
        assertEquals(3, word(outcome, 16));
        assertEquals(94, word(outcome, 24));
        assertEquals(0, word(stage.same(Compiled.of(Aggregate.class), 4000, 100, 24, 8, 30, 40, 16), 0));
        stage.capacity = 8 + 3 * 24 + 5;
        // 4000 + 4 * 24 is the region's end.
        outcome = stage.same(Compiled.of(Filter.class), 4000, 100, 24, 8, 3, 4);
        assertEquals(3, outcome.code());
        assertEquals(14, word(outcome, 0));
        assertEquals(3, word(outcome, 8 + 16));
        assertEquals(4, word(outcome, 32 + 16));
        assertEquals(13, word(outcome, 56 + 16));
        assertEquals(
                CallStatus.SPLIT,
                stage.same(Compiled.of(Filter.class), 4090, 100, 16, 0, -9, 9).status());
    }

    @Test
    void hashTables() {
        Random random = new Random(11);
        int buckets = 16;
        long table = allocate(8 * buckets);
        long[] chains = new long[buckets];
        Map<Long, byte[]> all = new TreeMap<>();
        for (int i = 0; i < 60; i++) {
            byte[] value = new byte[random.nextInt(100)];
            random.nextBytes(value);
            long key = i < 30 ? i : random.nextLong();
            long node = allocate(24 + value.length);
            int bucket = (int) HashGet.bucket(key, buckets);
            stage.put(node, chains[bucket]);
            stage.put(node + 8, key);
            stage.put(node + 16, value.length);
            for (int j = 0; j < value.length; j++) {
                long at = node + 24 + j;
                stage.region((int) (at >>> Stage.REGION_SHIFT))
                        .set(ValueLayout.JAVA_BYTE, at & (Stage.REGION_BYTES - 1), value[j]);
            }
            chains[bucket] = node;
            stage.put(table + 8L * bucket, node);
            all.put(key, value);
        }
        int longest = 0;
        for (Map.Entry<Long, byte[]> entry : all.entrySet()) {
            if (longest++ % 5 == 0) {
                Stage.Outcome outcome = stage.same(Compiled.of(HashGet.class), table, buckets, entry.getKey());
                assertEquals(entry.getValue().length, outcome.code());
                assertArrayEquals(entry.getValue(), outcome.result().toArray(ValueLayout.JAVA_BYTE));
            }
        }
        assertEquals(
                -1, stage.same(Compiled.of(HashGet.class), table, buckets, -77).code());
    }

    /** Leaves of 5 keys, inner nodes of 3; keys are multiples of 10. */
    private long tree(int keys) {
        int leaves = (keys + 4) / 5;
        long[] nodes = new long[leaves];
        long[] least = new long[leaves];
        for (int i = 0; i < leaves; i++) {
            nodes[i] = allocate(24 + 16 * 5);
        }
        for (int i = 0; i < leaves; i++) {
            int count = Math.min(5, keys - 5 * i);
            stage.put(nodes[i], 1);
            stage.put(nodes[i] + 8, count);
            stage.put(nodes[i] + 16, i + 1 < leaves ? nodes[i + 1] : 0);
            least[i] = 50L * i;
            for (int j = 0; j < count; j++) {
                stage.put(nodes[i] + 24 + 16 * j, 50L * i + 10 * j);
                stage.put(nodes[i] + 32 + 16 * j, 7 * (50L * i + 10 * j));
            }
        }
        while (nodes.length > 1) {
            int parents = (nodes.length + 3) / 4;
            long[] above = new long[parents];
            long[] first = new long[parents];
            for (int i = 0; i < parents; i++) {
                above[i] = allocate(24 + 16 * 3);
                first[i] = least[4 * i];
                int children = Math.min(4, nodes.length - 4 * i);
                stage.put(above[i] + 8, children - 1);
                stage.put(above[i] + 16, nodes[4 * i]);
                for (int j = 1; j < children; j++) {
                    stage.put(above[i] + 24 + 16 * (j - 1), least[4 * i + j]);
                    stage.put(above[i] + 32 + 16 * (j - 1), nodes[4 * i + j]);
                }
            }
            nodes = above;
            least = first;
        }
        return nodes[0];
    }

    @Test
    void trees() {
        long root = tree(203);
        Compiled get = Compiled.of(TreeGet.class);
        for (long key : new long[] {0, 10, 40, 50, 60, 190, 200, 250, 1000, 2020}) {
            Stage.Outcome outcome = stage.same(get, root, key);
            assertEquals(1, outcome.code(), "key " + key);
            assertEquals(7 * key, word(outcome, 0));
        }
        for (long key : new long[] {-1, 5, 49, 2021, 2030, Long.MAX_VALUE, Long.MIN_VALUE}) {
            assertEquals(0, stage.same(get, root, key).code(), "key " + key);
        }
        Compiled range = Compiled.of(TreeRange.class);
        long[][] ranges = {
            {0, 0, 1}, {1, 9, 0}, {10, 60, 6}, {45, 205, 16}, {-5, 5, 1}, {2000, 9999, 3}, {5, 4, 0}, {50, 50, 1}
        };
        for (long[] row : ranges) {
            Stage.Outcome outcome = stage.same(range, root, row[0], row[1]);
            assertEquals(row[2], outcome.code(), row[0] + " to " + row[1]);
            for (int i = 0; i < outcome.code(); i++) {
                long key = (Math.max(row[0], 0) + 9) / 10 * 10 + 10L * i;
                assertEquals(key, word(outcome, 16 * i));
                assertEquals(7 * key, word(outcome, 16 * i + 8));
            }
        }
        stage.capacity = 16 * 7 + 15;
        assertEquals(7, stage.same(range, root, 45, 2000).code());
    }

    @Test
    void logs() {
        long log = allocate(16 + 100);
        stage.put(log + 8, 100);
        Compiled append = Compiled.of(Append.class);
        Stage.Outcome outcome = stage.same(append, log, 1, 2, 3);
        assertEquals(1, outcome.code());
        assertEquals(0, word(outcome, 0));
        outcome = stage.same(append, log);
        assertEquals(32, word(outcome, 0));
        assertEquals(40, word(stage.same(append, log, 4, 5, 6, 7), 0));
        assertEquals(0, stage.same(append, log, 8, 9, 10).code());
        assertEquals(80, word(stage.same(append, log, 8), 0));
        assertEquals(25, stage.copy().get(ValueLayout.JAVA_LONG, log + 16));
        assertEquals(3, stage.copy().get(ValueLayout.JAVA_LONG, log + 16 + 24));
    }

    @Test
    void sets() {
        stage.put(4096, 5);
        stage.put(8184, 6);
        Compiled set = Compiled.of(CompareAndSetWords.class);
        assertEquals(1, stage.same(set, 4096, 5, 50, 8184, 6, 60).code());
        assertEquals(0, stage.same(set, 4096, 50, 500, 8184, 6, 600).code());
        assertEquals(50, stage.copy().get(ValueLayout.JAVA_LONG, 4096));
        assertEquals(
                CallStatus.SPLIT, stage.same(set, 4096, 50, 500, 8192, 0, 600).status());
        assertEquals(CallStatus.OUT_OF_RANGE, stage.same(set, new long[27]).status());
    }
}
