package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.peers.PeerAbsentException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ContestantsTest {

    private static final long RECORDS = 20_000;
    /** Few records, so that few pages are written again and again, by a thread that must share its core. */
    private static final long FEW = 4000;

    private static final long TURN_NANOS = 20_000_000;
    private static final int LEAST = 10_000;
    private static final int VALUE_BYTES = 64;

    private static List<Contestant> contestants(DataSet data) {
        List<Contestant> all = new ArrayList<>();
        all.add(new StoreContestant(data, new MemoryStorage(), 1));
        all.add(new StoreContestant(data, new MemoryStorage(), 0.25));
        all.add(new StoreContestant(data, new MemoryStorage(), 0));
        all.add(StoreContestant.single(data, new MemoryStorage(), 1));
        all.add(StoreContestant.single(data, new MemoryStorage(), 0.25));
        all.add(StoreContestant.group(data, new MemoryStorage(), 0.25));
        all.add(new OffHeapMap(data, false));
        all.add(new OffHeapMap(data, true));
        all.add(new HeapMap(data));
        return all;
    }

    private static List<KeyStream> streams(YcsbWorkload workload, long records, int threads) {
        List<KeyStream> streams = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            streams.add(new KeyStream(
                    workload == YcsbWorkload.D ? KeyDistribution.LATEST : KeyDistribution.ZIPFIAN,
                    records,
                    thread,
                    threads));
        }
        return streams;
    }

    /** A turn checks the values that it reads, and throws if one is not the stored one. */
    @ParameterizedTest
    @ValueSource(ints = {8, 256})
    void eachDoesEveryWorkload(int valueBytes) throws Exception {
        DataSet data = new DataSet(FEW, valueBytes);
        for (Contestant contestant : contestants(data)) {
            try (contestant) {
                contestant.load();
                // Workload D is left out: the keys that it inserts stay, and OffHeapMap has no room for ever more keys.
                for (YcsbWorkload workload : List.of(YcsbWorkload.C, YcsbWorkload.A, YcsbWorkload.B, YcsbWorkload.F)) {
                    ContestTurn turn = TurnRunner.run(contestant, workload, streams(workload, FEW, 2), TURN_NANOS);
                    assertTrue(Double.isFinite(turn.opsPerSecond()));
                    assertTrue(turn.tally().ended >= 2 * OperationGroup.SIZE);
                    assertEquals(0, turn.tally().wrong);
                    assertTrue(turn.tally().latency().getTotalCount() > 0);
                }
            }
        }
    }

    /** It is not safe for threads that write beside others. */
    @Test
    void agronasMapTakesPartInReadsAlone() throws Exception {
        DataSet data = new DataSet(FEW, 8);
        for (boolean touching : new boolean[] {false, true}) {
            try (AgronaMap map = new AgronaMap(data, touching)) {
                map.load();
                assertFalse(ExternalContestant.takes(map, YcsbWorkload.A, KeyDistribution.ZIPFIAN));
                assertTrue(ExternalContestant.takes(map, YcsbWorkload.C, KeyDistribution.ZIPFIAN));
                ContestTurn turn = TurnRunner.run(map, YcsbWorkload.C, streams(YcsbWorkload.C, FEW, 2), TURN_NANOS);
                assertEquals(0, turn.tally().wrong);
                assertEquals(touching ? OperationGroup.SIZE : 1, map.means().group());
                assertTrue(map.means().bytesLocal() >= data.bytes(), () -> "" + map.means());
            }
        }
    }

    /** A cache without a bound, in place of the one of a library. */
    private record HeapCache(Map<Long, byte[]> values) implements LocalCache {

        @Override
        public boolean get(long key, MemorySegment into) {
            byte[] value = values.get(key);
            if (value == null) {
                return false;
            }
            into.copyFrom(MemorySegment.ofArray(value));
            return true;
        }

        @Override
        public void put(long key, MemorySegment from, long offset) {
            values.put(key, from.asSlice(offset, VALUE_BYTES).toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void aCacheInFrontOfAStoreAnswersWhatWasRead() throws Exception {
        DataSet data = new DataSet(FEW, VALUE_BYTES);
        Map<Long, byte[]> cached = new ConcurrentHashMap<>();
        try (LocallyCachedStore store = new LocallyCachedStore(
                data, new MemoryStorage(), 0.5, 0.75, (records, bytes) -> new HeapCache(cached))) {
            store.load();
            assertFalse(ExternalContestant.takes(store, YcsbWorkload.B, KeyDistribution.ZIPFIAN));
            ClientCounts tally = new ClientCounts();
            while (cached.size() < FEW / 4) {
                tally.add(TurnRunner.run(store, YcsbWorkload.C, streams(YcsbWorkload.C, FEW, 2), TURN_NANOS)
                        .tally());
            }
            assertEquals(0, tally.wrong);
            assertTrue(tally.pending < tally.ended, () -> tally.pending + " of " + tally.ended);
            assertTrue(store.means().bytesLocal() > data.logBytes() * 3 / 8, () -> "" + store.means());
        }
    }

    /**
     * So that its row may stand beside those of maps that read key by key, and of peers with as many reads under way.
     */
    @Test
    void aStoreHasAsManyReadsUnderWayAsItsRowSays() throws Exception {
        DataSet data = new DataSet(RECORDS, 8);
        try (StoreContestant single = StoreContestant.single(data, new MemoryStorage(), 0.25);
                StoreContestant group = StoreContestant.group(data, new MemoryStorage(), 0.25)) {
            single.load();
            group.load();
            assertEquals(new Contestant.Means(single.means().bytesLocal(), 1, 1), single.means());
            assertEquals(OperationGroup.SIZE, group.means().inFlight());
            OperationGroup reads = new OperationGroup();
            KeyStream keys = new KeyStream(KeyDistribution.UNIFORM, RECORDS, 0, 1);
            ClientCounts tally = new ClientCounts();
            try (StoreClient client = single.open(tally)) {
                for (int i = 0; i < 10; i++) {
                    keys.fill(reads, YcsbWorkload.C);
                    client.run(reads);
                    // None is left when a group has been run.
                    assertEquals((i + 1) * OperationGroup.SIZE, tally.ended);
                }
                client.drain();
            }
            assertTrue(tally.pending > 0);
            assertEquals(0, tally.wrong);
        }
    }

    @Test
    void insertedKeysAreRead() throws Exception {
        try (StoreContestant store = new StoreContestant(new DataSet(RECORDS, 8), new MemoryStorage(), 0.25)) {
            store.load();
            long before = store.notLocalBytes();
            TurnRunner.run(store, YcsbWorkload.D, streams(YcsbWorkload.D, RECORDS, 2), TURN_NANOS);
            assertTrue(store.notLocalBytes() >= before);
        }
    }

    @Test
    void aStoreReadsItsDeviceAsOftenAsItsShareSays() throws Exception {
        for (double share : new double[] {0, 0.25, 0.75, 1}) {
            try (StoreContestant store = new StoreContestant(new DataSet(RECORDS, 8), new MemoryStorage(), share)) {
                store.load();
                assertEquals(share, store.facts().localShare(), 0.1);
                KeyStream uniform = new KeyStream(KeyDistribution.UNIFORM, RECORDS, 0, 1);
                // A busy machine's turn may have only some hundred operations, of which the share would be chance.
                ClientCounts tally = new ClientCounts();
                while (tally.ended < LEAST) {
                    tally.add(TurnRunner.run(store, YcsbWorkload.C, List.of(uniform), TURN_NANOS)
                            .tally());
                }
                double pending = (double) tally.pending / tally.ended;
                assertEquals(1 - store.facts().localShare(), pending, 0.05);
                assertTrue(tally.deviceReads >= tally.pending);
            }
        }
    }

    /** RocksDB's call returns when its whole group has ended: the means are the same only if the store's does. */
    @Test
    void aStoreOfGroupsHasEndedEachWhenItBeginsTheNext(@TempDir Path directory) throws Exception {
        DataSet data = new DataSet(RECORDS, 8);
        try (StoreContestant store = StoreContestant.group(data, new FileStorage(data, directory), 0)) {
            store.load();
            for (YcsbWorkload workload : new YcsbWorkload[] {YcsbWorkload.C, YcsbWorkload.F}) {
                KeyStream uniform = new KeyStream(KeyDistribution.UNIFORM, RECORDS, 0, 1);
                OperationGroup group = new OperationGroup();
                ClientCounts tally = new ClientCounts();
                try (StoreClient client = store.open(tally)) {
                    for (int groups = 1; groups <= 20; groups++) {
                        uniform.fill(group, workload);
                        client.run(group);
                        assertEquals((long) groups * OperationGroup.SIZE, tally.ended);
                    }
                    client.drain();
                }
                assertTrue(tally.pending > 0);
                assertEquals(0, tally.wrong);
            }
        }
    }

    @Test
    void whatWasNotStoredIsNoticed() throws Exception {
        DataSet data = new DataSet(RECORDS, 8);
        try (OffHeapMap map = new OffHeapMap(data, false)) {
            IllegalStateException wrong = assertThrows(
                    IllegalStateException.class,
                    () -> TurnRunner.run(map, YcsbWorkload.C, streams(YcsbWorkload.C, RECORDS, 1), TURN_NANOS));
            assertTrue(wrong.getMessage().contains("operations failed"), wrong::getMessage);
        }
    }

    @Test
    void pagesAreSmallEnoughForTheShareAndLargeEnoughForARecord() {
        assertEquals(12, StoreContestant.pageBits(new DataSet(1000, 8), 0));
        for (long records = 1000; records < 1L << 32; records *= 4) {
            DataSet data = new DataSet(records, 8);
            assertTrue(1L << StoreContestant.pageBits(data, 1) <= data.segmentBytes(), data::toString);
        }
        for (double share : new double[] {0, 0.1, 0.5, 1}) {
            DataSet large = new DataSet(100_000, 1 << 16);
            assertTrue(1 << StoreContestant.pageBits(large, share) >= large.recordBytes());
        }
    }

    @Test
    void whatFasterAnswersIsATurn() throws IOException {
        ContestTurn turn = FasterReads.turn("2000 500000 0 240:3 1100:1");
        assertEquals(4e6, turn.opsPerSecond());
        assertEquals(2000, turn.tally().ended);
        assertEquals(4, turn.tally().latency().getTotalCount());
        assertEquals(240, turn.tally().latency().getValueAtPercentile(50));
        assertThrows(IOException.class, () -> FasterReads.turn("2000 500000 1"));
    }

    @Test
    void fasterIsAbsentWithoutItsSources(@TempDir Path directory) {
        DataSet data = new DataSet(FEW, 8);
        assertTrue(absence(() -> new FasterReads(data, null, directory)).contains("--faster DIR"));
        assertTrue(absence(() -> new FasterReads(new DataSet(FEW, 16), directory, directory))
                .contains("values of 8 bytes"));
        // There is nothing to compile.
        assertTrue(absence(() -> new FasterReads(data, directory.resolve("none"), directory))
                .contains("apt-get install"));
    }

    private static String absence(Executable opening) {
        return assertThrows(PeerAbsentException.class, opening).getMessage();
    }
}
