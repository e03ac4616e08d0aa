package io.farheap.bench.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.farheap.bench.peers.PeerMeans;
import io.farheap.bench.peers.PeerOperation;
import io.farheap.bench.peers.PeersBench;
import io.farheap.bench.report.BenchReport;
import io.farheap.bench.report.Quartiles;
import io.farheap.bench.report.Validity;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A map takes turns with Redis and memcached; without them it is measured alone. */
class KvPeersTest {

    private static final long TURN_NANOS = 5_000_000;

    private final BenchReport report = new BenchReport("soft0 (soft)", "none", 2, "./farheap bench kv");
    private final KvPeers peers = new KvPeers(
            report, new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8), 1, TURN_NANOS);

    @TempDir
    private Path directory;

    private static List<Long> children() {
        return ProcessHandle.current().children().map(ProcessHandle::pid).toList();
    }

    /** A get returns the bytes of the last update, and posts not only READs: so its row is judged. */
    @Test
    void theMapHasARowOfEachOperation() {
        MapPeer map = new MapPeer(BenchMaps.VALUE_BYTES);
        byte[] value = new byte[BenchMaps.VALUE_BYTES];
        new SplittableRandom(1).nextBytes(value);
        map.use(value);
        map.put(2);
        map.get(2);
        assertArrayEquals(value, map.got());
        assertTrue(map.onDevice());
        assertFalse(map.readsAlone());
        peers.run(directory, map);
        List<JsonObject> rows = report.rows().stream()
                .filter(row -> row.get("engine").getAsString().equals(KvPeers.MAP))
                .toList();
        assertEquals(
                List.of("get-hit", "set-update"),
                rows.stream().map(row -> row.get("operation").getAsString()).toList());
        for (JsonObject row : rows) {
            assertTrue(row.get("p50_ns").getAsDouble() > 0, row::toString);
            assertFalse(row.get("invalid").getAsBoolean(), row::toString);
            assertEquals(1, row.get("cores").getAsInt());
            assertEquals(0, row.get("calls").getAsInt());
        }
    }

    @Test
    void aMapWhosePeersCannotStartLeavesNoServer() {
        List<Long> before = children();
        MapPeer map = new MapPeer(BenchMaps.VALUE_BYTES);
        List<Long> with = children();
        assertTrue(with.size() > before.size(), () -> "no server beside " + before);
        assertThrows(IllegalStateException.class, () -> peers.run(directory.resolve("missing"), map));
        assertTrue(before.containsAll(children()), () -> "left " + children() + " beside " + before);
    }

    @Test
    void anInvalidRowHasNoTimes() {
        peers.put(row(new Validity(30)));
        peers.put(row(new Validity(0.5)));
        JsonObject invalid = report.rows().getFirst();
        assertTrue(invalid.get("invalid").getAsBoolean());
        assertEquals(30, invalid.get("late_pct").getAsDouble());
        for (String name : List.of("p50_ns", "p25_ns", "p75_ns", "p99_ns")) {
            assertTrue(invalid.get(name).isJsonNull(), invalid::toString);
            assertFalse(report.rows().getLast().get(name).isJsonNull());
        }
    }

    private static PeersBench.Row row(Validity validity) {
        return new PeersBench.Row(
                PeerOperation.PUT,
                BenchMaps.VALUE_BYTES,
                KvPeers.MAP,
                new Quartiles(90, 100, 110),
                200,
                3,
                new PeerMeans(false, 1, 1, 1, 1),
                true,
                validity);
    }
}
