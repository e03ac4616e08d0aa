package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench kv}, small: hits are what an exact cache has, about. */
class BenchKvTest {

    @TempDir
    Path directory;

    /** A third of the keys have nine tenths of the requests, and a map for a third keeps them. */
    @Test
    void aTraceIsPlayedOnAMap() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        StringBuilder keys = new StringBuilder();
        for (int i = 0; i < 5000; i++) {
            int key = random.nextInt(10) > 0 ? random.nextInt(100) : 100 + random.nextInt(200);
            keys.append(key).append('\n');
        }
        Path trace = Files.writeString(directory.resolve("trace"), keys);
        Path json = directory.resolve("kv.json");
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "kv",
                "--trace",
                trace.toString(),
                "--objects",
                "100",
                "--policy",
                "adaptive lru",
                "--clients",
                "1,3",
                "--json",
                json.toString());
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        JsonArray rows =
                JsonParser.parseString(Files.readString(json)).getAsJsonObject().getAsJsonArray("rows");
        assertEquals(4, rows.size());
        for (int i = 0; i < 4; i++) {
            JsonObject row = rows.get(i).getAsJsonObject();
            assertEquals(5000, row.get("requests").getAsInt());
            double hits = row.get("hit_pct").getAsDouble();
            assertTrue(hits > 50 && hits < 95, row::toString);
            assertTrue(row.get("reads").getAsDouble() >= 1, row::toString);
        }
    }

    /** Operations do not depend on the machine: a get that hits reads twice, and so on. */
    @Test
    void operationsOfEachRequestAreCounted() throws Exception {
        Path json = directory.resolve("kv.json");
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "kv",
                "--part",
                "messages",
                "--keys",
                "200",
                "--turns",
                "1",
                "--sessions",
                "1,3",
                "--json",
                json.toString());
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        JsonArray rows =
                JsonParser.parseString(Files.readString(json)).getAsJsonObject().getAsJsonArray("rows");
        Map<String, Double> reads = new HashMap<>();
        for (JsonElement element : rows) {
            JsonObject row = element.getAsJsonObject();
            assertEquals("messages", row.get("part").getAsString());
            String name = row.get("operation").getAsString();
            reads.put(name, row.get("reads").getAsDouble());
            if (!name.equals("all") && !name.equals("evict")) {
                assertTrue(row.get("p50_ns").getAsDouble() > 0, row::toString);
                assertTrue(row.get("floor_ops_per_s").getAsDouble() > 0, row::toString);
            }
        }
        // Four workloads by two numbers of sessions, and five kinds of request.
        assertEquals(4 * 2 + 5, rows.size());
        assertEquals(2, reads.get("get-hit"), 0.2);
        assertEquals(1, reads.get("get-miss"), 0.2);
        assertEquals(1, reads.get("set-update"), 0.2);
        assertEquals(2, reads.get("set-insert"), 0.2);
        assertTrue(reads.get("evict") > 0, reads::toString);
    }

    /** Small: what it measures is not judged, but LRU is to be better than LFU where the load is for it. */
    @Test
    void everyOtherPartHasItsRows() throws Exception {
        Path json = directory.resolve("kv.json");
        Path plots = directory.resolve("plots");
        CommandProcess command = CommandProcess.start(
                Map.of(),
                "bench",
                "kv",
                "--part",
                "ycsb,adaptivity,elasticity",
                "--keys",
                "200",
                "--turns",
                "1",
                "--sessions",
                "1,3",
                "--report",
                plots.toString(),
                "--json",
                json.toString());
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        JsonArray rows =
                JsonParser.parseString(Files.readString(json)).getAsJsonObject().getAsJsonArray("rows");
        Map<String, Integer> parts = new HashMap<>();
        Map<String, Double> phases = new HashMap<>();
        for (JsonElement element : rows) {
            JsonObject row = element.getAsJsonObject();
            parts.merge(row.get("part").getAsString(), 1, Integer::sum);
            if (row.has("phase")) {
                phases.put(
                        row.get("policy").getAsString() + row.get("phase").getAsInt(),
                        row.get("hit_pct").getAsDouble());
            }
            if (row.has("ops_per_s")) {
                assertTrue(row.get("ops_per_s").getAsDouble() > 0, row::toString);
            }
        }
        // Four workloads, two kinds of keys, two numbers of sessions; four policies: phases, shares, clients; five
        // numbers
        // of clients, three sizes of a map, and two growths.
        assertEquals(Map.of("ycsb", 4 * 2 * 2, "adaptivity", 4 * (5 + 5 + 3), "elasticity", 5 + 3 + 2), parts);
        assertTrue(phases.get("lru2") > phases.get("lfu2") + 5, phases::toString);
        assertEquals(4 * 4, phases.size(), phases::toString);
        assertTrue(Files.exists(plots.resolve("kv-adaptivity.png")));
        assertTrue(Files.exists(plots.resolve("kv-elasticity.png")));
        assertTrue(Files.exists(plots.resolve("kv-elasticity-memory.png")));
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong :
                new String[][] {{"--clients", "0"}, {"--objects", "0"}, {"--percent", "101"}, {"--sessions", "0"}}) {
            assertEquals(1, Main.commandLine().execute("bench", "kv", "--trace", "none", wrong[0], wrong[1]));
        }
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--part", "traces"));
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--keys", "1"));
    }
}
