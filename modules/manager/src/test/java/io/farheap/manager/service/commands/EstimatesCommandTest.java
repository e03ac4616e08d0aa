package io.farheap.manager.service.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheManager;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.ReclaimOutcome;
import io.farheap.manager.ServerReport;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.MemoryStore;
import io.farheap.manager.service.RecordedNotices;
import io.farheap.manager.service.grant.GrantClock;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.service.grpc.ManagerServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code farheap manager lives} and {@code rates}, through gRPC, with a clock that only the tests advance. */
class EstimatesCommandTest {

    private static final long REGION = 64L << 20;
    private static final long HOUR = 3_600_000;

    @TempDir
    private Path directory;

    private long millis = 1_000;
    private final ClusterManager cluster =
            new ClusterManager(new MemoryStore(), ManagerOptions.DEFAULT, () -> millis * 1_000_000, () -> millis);
    private final StringWriter out = new StringWriter();
    private ManagerServer server;

    @BeforeEach
    void start() {
        server = ManagerServer.start(
                "127.0.0.1:0",
                cluster,
                new GrantSigner(
                        KeyFile.read(directory),
                        cluster.hello(CacheManager.PROTOCOL_VERSION),
                        new GrantClock(() -> 0, () -> 1_000)));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private void report(long id, boolean leaving) {
        cluster.report(new ServerReport(
                id,
                "host" + id + ":1",
                id == 9 ? "full" : "m16",
                id != 9,
                "d/c/r" + id % 2,
                REGION,
                4,
                4,
                30_000,
                leaving,
                leaving ? 30_000 : 0,
                Map.of()));
    }

    private String run(String... arguments) {
        out.getBuffer().setLength(0);
        assertEquals(
                0,
                new CommandLine(new ManagerCommand())
                        .setOut(new PrintWriter(out))
                        .setErr(new PrintWriter(out))
                        .execute(arguments),
                out::toString);
        return out.toString();
    }

    private JsonArray types(String command) {
        String text = run(command, "--json", "--manager", server.address());
        assertEquals(text.indexOf('\n'), text.length() - 1, "one line");
        return JsonParser.parseString(text).getAsJsonObject().getAsJsonArray("types");
    }

    @Test
    void withoutServersThereIsNothingToEstimate() {
        assertTrue(types("lives").isEmpty());
        assertTrue(types("rates").isEmpty());
        assertTrue(run("lives", "--manager", server.address()).startsWith("no spot server has reported"));
        assertTrue(run("rates", "--manager", server.address()).startsWith("no server has reported"));
    }

    @Test
    void livesAreCountedByTypeAndRack() {
        for (long id = 1; id <= 5; id++) {
            report(id, false);
        }
        report(9, false);
        millis += HOUR;
        for (long id = 1; id <= 5; id++) {
            report(id, false);
        }
        report(9, false);
        report(1, true);
        cluster.drain("host2:1");
        JsonArray types = types("lives");
        assertEquals(1, types.size(), "a server at the full price has no life to estimate");
        JsonObject type = types.get(0).getAsJsonObject();
        assertEquals("m16", type.get("type").getAsString());
        assertEquals(1, type.get("ends").getAsInt());
        assertEquals(1, type.get("censored").getAsInt());
        assertEquals(3, type.get("living").getAsInt());
        assertEquals(0, type.get("ending").getAsInt());
        assertFalse(type.get("observed").getAsBoolean(), "one end says little");
        assertEquals(1, type.get("mean_hours").getAsDouble(), "that of a type that is not on the menu");
        JsonArray racks = type.getAsJsonArray("racks");
        assertEquals(
                List.of("d/c/r0", "d/c/r1"),
                racks.asList().stream()
                        .map(rack -> rack.getAsJsonObject().get("place").getAsString())
                        .toList());
        JsonObject second = racks.get(1).getAsJsonObject();
        assertEquals(2, second.get("living").getAsInt());
        assertEquals(1, second.get("oldest_hours").getAsDouble());
        assertTrue(second.getAsJsonArray("ending").isEmpty());
        String table = run("lives", "--manager", server.address());
        assertTrue(table.lines().anyMatch(line -> line.matches("m16 +1 +1 +3 +0 +1.00 h +menu")), table);
        assertTrue(table.lines().anyMatch(line -> line.matches("m16 +d/c/r1 +2 +1.00 h +-")), table);
    }

    @Test
    void serversThatAreExpectedToEndSoonAreNamed() {
        // Servers that end within a minute count as one.
        for (long id = 11; id <= 20; id++) {
            report(id, false);
            millis += 61_000;
        }
        millis += HOUR - 10 * 61_000;
        for (long id = 11; id <= 20; id++) {
            report(id, true);
            millis += 61_000;
        }
        report(31, false);
        report(32, false);
        millis += 59 * 60_000;
        report(31, false);
        report(32, false);
        JsonObject type = types("lives").get(0).getAsJsonObject();
        assertEquals(10, type.get("ends").getAsInt());
        assertTrue(type.get("observed").getAsBoolean());
        assertEquals(1, type.get("mean_hours").getAsDouble(), 1e-9);
        assertEquals(2, type.get("living").getAsInt());
        assertEquals(2, type.get("ending").getAsInt());
        JsonObject second = type.getAsJsonArray("racks").get(1).getAsJsonObject();
        assertEquals("[\"host31:1\"]", second.getAsJsonArray("ending").toString());
        String table = run("lives", "--manager", server.address());
        assertTrue(table.lines().anyMatch(line -> line.matches("m16 +10 +0 +2 +2 +1.00 h +lives")), table);
        assertTrue(table.lines().anyMatch(line -> line.matches("m16 +d/c/r0 +1 +0.98 h +host32:1")), table);
    }

    @Test
    void aRateThatWasObservedSaysHowOften() {
        report(1, false);
        report(3, false);
        cluster.allocate(new CacheRequest(7, 99, "orders", REGION, HOUR, "", List.of(AllocationCandidate.ANY)));
        List<Reclaim> alerts = new ArrayList<>();
        cluster.attend(99, new RecordedNotices(alerts, new ArrayList<>())).renew(Set.of(7L));
        String from = cluster.describe(7).allocation().shares().getFirst().address();
        cluster.drain(from);
        assertEquals(1, alerts.size());
        Reclaim alert = alerts.getFirst();
        millis += 1_000;
        cluster.moved(7, alert.generation(), REGION, null, alert.targets(), new ReclaimOutcome(from, 1_000, 0));
        millis += 6_000;
        report(1, from.equals("host1:1"));
        report(3, from.equals("host3:1"));
        cluster.tick();
        JsonObject type = types("rates").get(0).getAsJsonObject();
        assertEquals("m16", type.get("type").getAsString());
        assertTrue(type.get("observed").getAsBoolean());
        assertEquals(1, type.get("samples").getAsLong());
        assertEquals(0.9e9 / 1.09, type.get("bytes_per_s").getAsDouble(), 1, "half of the given rate counts a fifth");
        String table = run("rates", "--manager", server.address());
        assertTrue(table.lines().anyMatch(line -> line.matches("m16 +825.7 MB/s +1 +moves")), table);
    }

    @Test
    void theRateOfATypeThatWasNotObservedIsTheGivenOne() {
        report(1, false);
        report(9, false);
        JsonArray types = types("rates");
        assertEquals(2, types.size());
        JsonObject full = types.get(0).getAsJsonObject();
        assertEquals("full", full.get("type").getAsString());
        assertEquals(1e9 / 1.09, full.get("bytes_per_s").getAsDouble(), 1);
        assertFalse(full.get("observed").getAsBoolean());
        assertEquals(0, full.get("samples").getAsLong());
        String table = run("rates", "--manager", server.address());
        assertTrue(table.lines().anyMatch(line -> line.matches("m16 +917.4 MB/s +0 +given")), table);
    }
}
