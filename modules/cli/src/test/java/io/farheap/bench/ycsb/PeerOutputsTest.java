package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.peers.PeerAbsentException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What the benchmarks of other projects print is a turn. */
class PeerOutputsTest {

    @Test
    void redisBenchmarksTableIsATurn() throws IOException {
        ContestTurn turn = RedisBenchmark.parse("""
                "test","rps","avg_latency_ms","min_latency_ms"
                "GET key:__rand_int__","1250000.00","0.042","0.008","0.040","0.050","0.100","2.000"
                """, 10_000);
        assertEquals(1_250_000, turn.opsPerSecond());
        assertEquals(10_000, turn.tally().ended);
        assertEquals(10_000, turn.tally().latency().getTotalCount());
        assertEquals(40_000, turn.tally().latency().getValueAtPercentile(50), 100.0);
        assertEquals(100_000, turn.tally().latency().getValueAtPercentile(99), 200.0);
        assertEquals(2_000_000, turn.tally().latency().getMaxValue(), 4000.0);
    }

    @Test
    void anOlderRedisBenchmarkPrintsNoLatencies() throws IOException {
        ContestTurn turn = RedisBenchmark.parse("\"GET key:__rand_int__\",\"276701.72\"\n", 500);
        assertEquals(276_701.72, turn.opsPerSecond(), 0.01);
        assertEquals(0, turn.tally().latency().getTotalCount());
        assertThrows(IOException.class, () -> RedisBenchmark.parse("Could not connect to Redis", 500));
    }

    @Test
    void memcslapsLastLinesAreARun() throws IOException {
        Memcslap.Run run = Memcslap.parse("""
                Time to generate      10000 test keys:                0.030 seconds.
                Time to set           10000 keys:                     0.210 seconds.
                Time to start             2 threads:                  0.001 seconds.
                --------------------------------------------------------------------
                Time to mget          20000 keys by 2    threads:     0.025 seconds.
                --------------------------------------------------------------------
                Time total:                                           0.260 seconds.
                """);
        assertEquals(20_000, run.keys());
        assertEquals(0.025, run.seconds());
        assertThrows(IOException.class, () -> Memcslap.parse("Unknown --test: 'mget'."));
    }

    @Test
    void theSecondResultOfDbBenchCounts() throws IOException {
        String cold = "readrandom   :     120.000 micros/op 8333 ops/sec 0.240 seconds 2000 operations;"
                + "    0.1 MB/s (2000 of 2000 found)\n";
        String warm = "readrandom   :      60.000 micros/op 16666 ops/sec 0.120 seconds 2000 operations;"
                + "    0.2 MB/s (2000 of 2000 found)\n";
        assertEquals(16_666, DbBench.parse(cold + warm).opsPerSecond());
        assertThrows(IOException.class, () -> DbBench.parse(warm.replace("(2000 of", "(1999 of")));
        assertThrows(IOException.class, () -> DbBench.parse("no results"));
    }

    @Test
    void aMapOfLongsHasNoLongerValues() {
        PeerAbsentException absent =
                assertThrows(PeerAbsentException.class, () -> new AgronaMap(new DataSet(1000, 16), false));
        assertTrue(absent.getMessage().contains("16 bytes"), absent::getMessage);
    }
}
