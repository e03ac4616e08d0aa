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
import io.farheap.manager.ServerReport;
import io.farheap.manager.Tenant;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.MemoryStore;
import io.farheap.manager.service.Unheard;
import io.farheap.manager.service.grant.GrantClock;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.service.grpc.ManagerServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** {@code farheap top}, through gRPC, of a cluster whose clock only the tests advance. */
class TopCommandTest {

    private static final long MIB = 1 << 20;

    @TempDir
    private Path directory;

    private final ClusterManager cluster =
            new ClusterManager(new MemoryStore(), ManagerOptions.DEFAULT, () -> 1, () -> 1_000);
    private final StringWriter out = new StringWriter();
    private ManagerServer server;

    @BeforeEach
    void start() {
        server = ManagerServer.start(
                "127.0.0.1:0",
                cluster,
                new GrantSigner(
                        KeyFile.read(directory), cluster.hello(version()), new GrantClock(() -> 0, () -> 1_000)));
    }

    @AfterEach
    void close() {
        server.close();
    }

    private static int version() {
        return CacheManager.PROTOCOL_VERSION;
    }

    private void report(long id, int regions) {
        cluster.report(new ServerReport(
                id,
                "host" + id + ":1",
                "m16",
                id == 2,
                "d/c/r" + id,
                MIB,
                regions,
                regions,
                30_000,
                false,
                0,
                Map.of()));
    }

    private void allocate(long id, long lifetimeMillis) {
        cluster.allocate(
                new CacheRequest(id, 99, "orders", MIB, lifetimeMillis, "", List.of(new AllocationCandidate(3, 0))));
    }

    private int run(Object command, String... arguments) {
        out.getBuffer().setLength(0);
        return new CommandLine(command)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(out))
                .execute(arguments);
    }

    private JsonObject json() {
        assertEquals(0, run(new TopCommand(), "--once", "--json", "--manager", server.address()), out::toString);
        assertEquals(out.toString().indexOf('\n'), out.toString().length() - 1, "one line");
        return JsonParser.parseString(out.toString()).getAsJsonObject();
    }

    @Test
    void showsServersAndCaches() {
        report(2, 2);
        report(1, 4);
        allocate(0xabL, 0);
        allocate(0xcdL, 3_661_000);
        JsonObject json = json();
        JsonArray servers = json.getAsJsonArray("servers");
        assertEquals(2, servers.size());
        JsonObject first = servers.get(0).getAsJsonObject();
        assertEquals("host1:1", first.get("address").getAsString());
        assertEquals(4, first.get("total_regions").getAsInt());
        assertEquals("d/c/r1", first.get("place").getAsString());
        assertEquals(first.get("address"), first.get("domain"), "a server that says none is one of its own");
        assertFalse(first.get("leaving").getAsBoolean());
        assertTrue(servers.get(1).getAsJsonObject().get("spot").getAsBoolean());
        JsonArray caches = json.getAsJsonArray("caches");
        assertEquals(2, caches.size());
        JsonObject cache = caches.get(0).getAsJsonObject();
        assertEquals("00000000000000ab", cache.get("id").getAsString());
        assertFalse(cache.has("left_ms"));
        assertEquals(3, cache.get("switches").getAsInt());
        assertEquals(3_661_000, caches.get(1).getAsJsonObject().get("left_ms").getAsLong());

        assertEquals(0, run(new TopCommand(), "--once", "--manager", server.address()), out::toString);
        String table = out.toString();
        assertTrue(table.contains("2 servers with 6 MiB, of which 6 MiB are free, 2 caches"), table);
        assertTrue(table.lines().anyMatch(line -> line.matches("host2:1 +m16 \\(spot\\) +d/c/r2 .* serves")), table);
        assertTrue(
                table.lines()
                        .anyMatch(line -> line.matches(
                                "00000000000000ab +orders +" + Tenant.DEFAULT + " +1 MiB +3 +0 +for ever +host1:1 1")),
                table);
        assertTrue(table.lines().anyMatch(line -> line.matches("00000000000000cd +orders .* 1h1m1s .*")), table);
    }

    @Test
    void showsAllPages() {
        int caches = CacheManager.MAX_PAGE + 1;
        report(1, caches);
        for (int id = 1; id <= caches; id++) {
            allocate(id, 0);
        }
        assertEquals(caches, json().getAsJsonArray("caches").size());
    }

    @Test
    void showsThatADrainedServerLeaves() {
        report(1, 4);
        assertEquals(
                0,
                run(new ManagerCommand(), "drain", "host1:1", "--manager", "127.0.0.1:1," + server.address()),
                out::toString);
        JsonObject drained = json().getAsJsonArray("servers").get(0).getAsJsonObject();
        assertTrue(drained.get("leaving").getAsBoolean());
        assertEquals(30_000, drained.get("leaves_within_ms").getAsLong());
        assertEquals(1, run(new ManagerCommand(), "drain", "host9:1", "--manager", server.address()));
        assertTrue(out.toString().contains("no memory server host9:1 reports"), out::toString);
    }

    @Test
    void showsWhatCannotLeave() {
        report(1, 4);
        allocate(0xabL, 0);
        assertEquals(0, json().getAsJsonArray("late_moves").size());
        assertEquals(0, run(new ManagerCommand(), "drain", "host1:1", "--manager", server.address()), out::toString);
        report(1, 4);
        JsonObject late = json().getAsJsonArray("late_moves").get(0).getAsJsonObject();
        assertEquals("00000000000000ab", late.get("cache").getAsString());
        assertEquals("host1:1", late.get("server").getAsString());
        assertEquals(1, late.get("lost_regions").getAsInt());
        assertFalse(late.get("room").getAsBoolean());
        report(1, 4);
        assertEquals(0, run(new TopCommand(), "--once", "--manager", server.address()), out::toString);
        String table = out.toString();
        assertTrue(
                table.lines().anyMatch(line -> line.matches("00000000000000ab +orders +host1:1 +1 +1 .* room")), table);
    }

    @Test
    void showsWhatServersWantBack() {
        report(1, 4);
        assertEquals(0, json().getAsJsonArray("wanted").size());
        allocate(0xabL, 0);
        cluster.attend(99, new Unheard()).renew(Set.of(0xabL));
        cluster.report(
                new ServerReport(1, "host1:1", "m16", false, "d/c/r1", MIB, 4, 0, 30_000, false, 0, Map.of(0xabL, 1))
                        .wanting(2, 3));
        cluster.tick();
        JsonObject json = json();
        JsonObject wanted = json.getAsJsonArray("wanted").get(0).getAsJsonObject();
        assertEquals("host1:1", wanted.get("server").getAsString());
        assertEquals(2, wanted.get("regions").getAsInt());
        assertEquals(1, wanted.get("without_room").getAsInt());
        JsonObject pressed = json.getAsJsonArray("servers").get(0).getAsJsonObject();
        assertEquals(3, pressed.get("withdrawn_regions").getAsInt());
        assertEquals(0, run(new TopCommand(), "--once", "--manager", server.address()), out::toString);
        String table = out.toString();
        assertTrue(table.lines().anyMatch(line -> line.matches("host1:1 .* wants 2 back, no room for 1")), table);
    }

    @Test
    void aManagerNeedsAPlace() {
        assertEquals(2, run(new ManagerCommand()));
        assertTrue(out.toString().contains("--data DIR, or --temporary"), out::toString);
    }

    @Test
    void aManagersServersAreAskedThemselvesWhereThatIsWanted() {
        report(1, 4);
        assertEquals(1, run(new TopCommand(), "--once", "--servers", "--json", "--manager", server.address()));
        JsonObject json = JsonParser.parseString(out.toString()).getAsJsonObject();
        JsonObject described = json.getAsJsonArray("described").get(0).getAsJsonObject();
        assertEquals("host1:1", described.get("address").getAsString());
        assertTrue(described.has("trouble"), "nobody is there");
        assertEquals(1, json.getAsJsonArray("servers").size());
    }

    /** Otherwise the command would show an empty table for ever. */
    @Test
    void anAddressAtWhichNoMemoryServerAnswersEndsTheCommand() {
        assertEquals(1, run(new TopCommand(), server.address()), out::toString);
        String says = "no memory server answers: ";
        assertTrue(out.toString().contains(says + server.address() + " is not a memory server: "), out::toString);
        assertEquals(1, run(new TopCommand(), "--json", "127.0.0.1:1"), out::toString);
        assertTrue(out.toString().contains(says + "memory server 127.0.0.1:1 cannot be reached: "), out::toString);
        assertTrue(out.toString().contains("; look whether the server runs, and name the HOST:PORT"), out::toString);
    }

    @Test
    void ofServersThatDoNotAnswerOnlyTheReasonsAreShown() {
        assertEquals(1, run(new TopCommand(), "--once", "127.0.0.1:1"), out::toString);
        assertTrue(out.toString().startsWith("memory server 127.0.0.1:1 cannot be reached: "), out::toString);
        assertEquals(1, out.toString().lines().count(), out::toString);
    }

    @Test
    void eitherManagersOrServersAreNamed() {
        assertEquals(2, run(new TopCommand(), "--once"));
        assertEquals(2, run(new TopCommand(), "--once", "--manager", server.address(), "127.0.0.1:1"));
        assertEquals(2, run(new TopCommand(), "--once", "--servers", "127.0.0.1:1"));
        assertTrue(out.toString().contains("name either managers"), out.toString());
    }
}
