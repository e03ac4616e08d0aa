package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.ToDoubleBiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code farheap bench kv}, small: hits are about those of an exact cache. */
class BenchKvTest {

    @TempDir
    Path directory;

    /** The rows of the benchmark's report. */
    private List<Figures> rows(String... options) throws Exception {
        Path json = directory.resolve("kv.json");
        List<String> arguments = new ArrayList<>(List.of("bench", "kv", "--json", json.toString()));
        arguments.addAll(List.of(options));
        CommandProcess command = CommandProcess.start(Map.of(), arguments.toArray(String[]::new));
        command.awaitEnd(0);
        command.assertNothingIsLeft();
        return Figures.read(json).rows();
    }

    /** A third of the keys have nine tenths of the requests, and a map for a third keeps them. */
    @Test
    @Tag("full")
    void aTraceIsPlayedOnAMap() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        StringBuilder keys = new StringBuilder();
        for (int i = 0; i < 5000; i++) {
            int key = random.nextInt(10) > 0 ? random.nextInt(100) : 100 + random.nextInt(200);
            keys.append(key).append('\n');
        }
        Path trace = Files.writeString(directory.resolve("trace"), keys);
        List<Figures> rows =
                rows("--trace", trace.toString(), "--objects", "100", "--policy", "adaptive lru", "--clients", "1,3");
        assertEquals(4, rows.size());
        for (Figures row : rows) {
            assertEquals(5000, row.count("requests"));
            double hits = row.number("hit_pct");
            assertTrue(hits > 50 && hits < 95, row::toString);
            assertTrue(row.number("reads") >= 1, row::toString);
            assertEquals(3, row.count("plays"));
            assertTrue(row.number("hit_pct_least") <= hits && hits <= row.number("hit_pct_most"), row::toString);
        }
    }

    /** Operations do not depend on the machine: a get that hits reads twice, and so on. */
    @Test
    @Tag("full")
    void operationsOfEachRequestAreCounted() throws Exception {
        List<Figures> rows = rows("--part", "messages", "--keys", "200", "--turns", "1", "--sessions", "1,3");
        Map<String, Double> reads = new HashMap<>();
        for (Figures row : rows) {
            assertEquals("messages", row.text("part"));
            String name = row.text("operation");
            reads.put(name, row.number("reads"));
            if (name.equals("get-all")) {
                row.assertThere("ns_of_key", "single_ns");
            } else if (!name.equals("all") && !name.equals("evict")) {
                row.assertThere("p50_ns", "floor_ops_per_s");
            }
        }
        // Four workloads by two numbers of sessions, and eight kinds of request.
        assertEquals(4 * 2 + 8, rows.size());
        assertEquals(2, reads.get("get-hit"), 0.2);
        assertEquals(1, reads.get("get-pointer"), 0.1);
        assertEquals(1, reads.get("get-miss"), 0.2);
        assertEquals(2, reads.get("get-all"), 0.2);
        assertEquals(1, reads.get("set-update"), 0.2);
        assertEquals(1, reads.get("set-pointer"), 0.2);
        assertEquals(2, reads.get("set-insert"), 0.2);
        assertTrue(reads.get("evict") > 0, reads::toString);
    }

    /** Gets that ask no server are counted, and there are none without leases. */
    @Test
    void sharesOfLeasedGetsAreCounted() throws Exception {
        Path plots = directory.resolve("plots");
        List<Figures> rows =
                rows("--part", "leases", "--keys", "200", "--turns", "1", "--plays", "1", "--report", plots.toString());
        Map<String, Integer> cases = new HashMap<>();
        Map<Integer, Double> held = new HashMap<>();
        for (Figures row : rows) {
            if (row.text("policy").equals("lru") && row.text("case").equals("policies")) {
                held.put(row.count("get_pct"), row.number("held"));
            }
        }
        for (Figures row : rows) {
            assertEquals("leases", row.text("part"));
            // All sides have the same keys in the same memory.
            assertEquals(200, row.count("key_count"));
            assertEquals(1 << 20, row.count("bytes"));
            String named = row.text("case");
            cases.merge(named, 1, Integer::sum);
            if (named.equals("latency")) {
                assertFalse(row.text("kind").isEmpty());
                row.assertThere("share_pct", "p10_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns");
                continue;
            }
            double hits = row.number("hit_pct");
            assertTrue(hits > 0 && hits <= 100, row::toString);
            if (row.text("policy").equals("random")) {
                assertTrue(row.flag("modelled"), row::toString);
                assertFalse(row.has("ops_per_s"), row::toString);
                assertEquals(held.get(row.count("get_pct")), row.number("held"), 1e-3);
                continue;
            }
            row.assertThere("ops_per_s", "ops_per_s_p25", "stale_pct", "leased_bytes", "server_cpu_ns", "writes");
            row.assertThere("bytes_local", "cores", "in_flight", "reclaimed_late", "warm_evicted", "evicted");
            // However slow a side is, its hits are those of as many requests.
            assertEquals(1000, row.number("warm_requests"));
            assertEquals(1000, row.number("requests"));
            double oneSided = row.number("one_sided_pct");
            if (row.count("longest") == 0) {
                assertTrue(oneSided == 0 && row.number("reads") == 0 && row.number("calls") >= 1, row::toString);
            } else if (row.count("term") == 1000 && row.count("queues") == 16) {
                assertTrue(oneSided > 0, row::toString);
            }
        }
        // Three shares of gets, of six sides and the model each; four fixed terms, three of popularity, and none;
        // three terms of three numbers of queues.
        assertTrue(cases.remove("latency") >= 4 * 2, cases::toString);
        assertEquals(Map.of("policies", 3 * 7, "terms", 8, "queues", 9), cases);
        for (String plot : List.of("hits", "terms", "latency")) {
            assertTrue(Files.exists(plots.resolve("kv-leases-" + plot + ".png")), plot);
        }
    }

    /** A trace is played on leased maps that hold a tenth of its keys, of which a third have most requests. */
    @Test
    @Tag("full")
    void aTraceIsPlayedOnLeasedMaps() throws Exception {
        SplittableRandom random = new SplittableRandom(1);
        StringBuilder keys = new StringBuilder();
        for (int i = 0; i < 20_000; i++) {
            int key = random.nextInt(10) > 0 ? random.nextInt(90) : 90 + random.nextInt(1000);
            keys.append(key).append('\n');
        }
        Path trace = Files.writeString(directory.resolve("hot"), keys);
        List<Figures> rows =
                rows("--part", "leases", "--trace", trace.toString(), "--keys", "200", "--turns", "1", "--plays", "1");
        List<Figures> played =
                rows.stream().filter(row -> row.text("case").equals("hot")).toList();
        assertEquals(5, played.size());
        for (Figures row : played) {
            double hits = row.number("hit_pct");
            assertTrue(hits > 40 && hits < 95, row::toString);
            if (!row.text("policy").equals("random")) {
                assertTrue(row.number("held") > 50 && row.number("held") < 110, row::toString);
            }
        }
    }

    /** Both engines are measured at each point, and only requests of leased maps call servers. */
    @Test
    @Tag("full")
    void bothEnginesAreMeasured() throws Exception {
        List<Figures> rows = rows("--part", "engines", "--keys", "300", "--turns", "1", "--plays", "1");
        // Six shares of gets, four more skews, two more sizes, and two clients.
        assertEquals((6 + 4 + 2 + 1) * 2 + 3, rows.size());
        for (Figures row : rows) {
            if (row.text("case").equals("crossings")) {
                row.assertThere("first", "last");
                row.assertSaid("ratio_first", "ratio_last", "equal_at");
                continue;
            }
            boolean leased = row.text("engine").equals("leased");
            row.assertThere("ops_per_s", "cpu_ns", "server_cpu_ns");
            // A map that is so small may evict in one of its shards.
            row.assertSaid("ratio", "core_ops_per_s", "cores_of_client");
            row.assertThere("server_idle_ns_per_s", "bytes_local", "cores", "in_flight");
            assertTrue(leased ? row.number("calls") > 0 : row.number("calls") == 0, row::toString);
            if (row.count("get_pct") > 0) {
                assertTrue(row.number("reads") > 0, row::toString);
                assertTrue(row.number("hit_pct") > 90, row::toString);
            }
        }
    }

    /** A small run, whose times are not judged; but LRU must be better than LFU if the load suits LRU. */
    @Test
    @Tag("full")
    void everyOtherPartHasItsRows() throws Exception {
        Path plots = directory.resolve("plots");
        List<Figures> rows = rows(
                "--part",
                "ycsb,adaptivity,elasticity",
                "--keys",
                "200",
                "--turns",
                "1",
                "--sessions",
                "1,3",
                "--plays",
                "2",
                "--report",
                plots.toString());
        Map<String, Integer> parts = new HashMap<>();
        Map<String, Double> phases = new HashMap<>();
        for (Figures row : rows) {
            String part = row.text("part");
            parts.merge(part.equals("elasticity") ? row.text("case") : part, 1, Integer::sum);
            if (row.has("phase")) {
                phases.put(row.text("policy") + row.count("phase"), row.number("hit_pct"));
            }
            if (part.equals("ycsb")) {
                row.assertThere("bytes_local", "bytes_remote", "cores", "in_flight", "group", "late_pct");
                assertEquals(row.count("sessions"), row.count("in_flight"));
                assertFalse(row.flag("invalid"), row::toString);
            }
            if (row.has("ops_per_s")) {
                row.assertThere("ops_per_s");
            }
            assertTrue(part.equals("ycsb") || row.has("play") || row.count("plays") == 2, row::toString);
        }
        // There are two plays, of which all windows remain.
        // A server joins and is drained: windows before, while it joins, between and after; and as many as the drain
        // takes.
        assertTrue(parts.remove("server") >= 2 * 4);
        // Four workloads, two kinds of keys, two numbers of sessions; four policies: phases, shares, clients; five
        // numbers of clients, three sizes of a map, two growths, and three ranges of objects' sizes.
        Map<String, Integer> expected = Map.of(
                "ycsb",
                4 * 2 * 2,
                "adaptivity",
                4 * (5 + 5 + 3),
                "clients",
                2 * 5,
                "memory",
                2 * 3,
                "growth",
                2,
                "join",
                1,
                "drain",
                1,
                "sizes",
                3);
        assertEquals(expected, parts);
        assertTrue(phases.get("lru2") > phases.get("lfu2") + 5, phases::toString);
        assertEquals(4 * 4, phases.size(), phases::toString);
        assertTrue(Files.exists(plots.resolve("kv-adaptivity.png")));
        assertTrue(Files.exists(plots.resolve("kv-elasticity.png")));
        assertTrue(Files.exists(plots.resolve("kv-elasticity-memory.png")));
        assertTrue(Files.exists(plots.resolve("kv-elasticity-server.png")));
    }

    /** Without further options: all policies at a tenth of the keys, and two at each size by 1, 8 and 64 clients. */
    @Test
    @Tag("full")
    void tracesOfADirectoryArePlayedByAllPolicies() throws Exception {
        Path traces = Files.createDirectory(directory.resolve("traces"));
        StringBuilder keys = new StringBuilder();
        for (int i = 0; i < 2000; i++) {
            keys.append(i % 500).append('\n');
        }
        Files.writeString(traces.resolve("loop"), keys);
        Files.writeString(traces.resolve("README.md"), "no trace");
        List<Figures> rows =
                rows("--part", "traces", "--trace", traces.toString(), "--percent", "10,100", "--seconds", "1");
        assertEquals(2 * 2 * 3 + 12 + 4, rows.size());
        for (Figures row : rows) {
            assertEquals("loop", row.text("trace"));
            if (row.has("miss_ns")) {
                row.assertThere("ops_per_s");
                continue;
            }
            // If there is room for all keys, each is missed once; a full bucket evicts a few.
            int misses = 2000 - row.count("hits");
            assertTrue(misses >= 500, row::toString);
            boolean alone = row.count("clients") == 1 && row.count("objects") == 500;
            assertTrue(misses < 600 || !alone, row::toString);
        }
    }

    /** Beside each point stands the best policy of the reference; means are of points that it has. */
    @Test
    @Tag("full")
    void hitsStandBesideThoseOfOtherPolicies() throws Exception {
        Path trace = Files.writeString(directory.resolve("trace"), "0\n1\n2\n0\n1\n".repeat(20));
        Path reference = Files.writeString(
                directory.resolve("hits.tsv"), "trace\tsize\tlcs:lru\tlcs:belady\ntrace\t2\t10\t60\n");
        String[] options = {
            "--trace",
            trace.toString(),
            "--objects",
            "2,3",
            "--policy",
            "lru",
            "--clients",
            "1",
            "--reference",
            reference.toString()
        };
        List<Figures> rows = rows(options);
        assertEquals(5, rows.size());
        assertEquals("lcs:lru", rows.getFirst().text("best_policy"));
        rows.getFirst().assertCount(10, "best_hit_pct");
        rows.getFirst().assertCount(60, "bound_hit_pct");
        rows.get(1).assertNone("best_policy");
        assertEquals("reference", rows.get(2).text("policy"));
        rows.get(2).assertCount(60, "lcs:belady");
        assertEquals("mean", rows.get(3).text("trace"));
        assertEquals(1, rows.get(3).count("points"));
        assertEquals(rows.getFirst().number("hit_pct"), rows.get(3).number("hit_pct"));
        assertEquals("lcs:lru", rows.get(3).text("best_policy"));
        // The same again, and then one of the two points alone.
        assertEquals(5, rows(options).size());
        options[3] = "2";
        List<String> arguments = new ArrayList<>(
                List.of("bench", "kv", "--json", directory.resolve("kv.json").toString()));
        arguments.addAll(List.of(options));
        assertEquals(1, Main.commandLine().execute(arguments.toArray(String[]::new)));
        assertEquals(5, Figures.read(directory.resolve("kv.json")).rows().size());
    }

    /** A part of the design saves operations, whose numbers do not depend on the machine. */
    @Test
    @Tag("full")
    void partsThatAreLeftOutCostOperations() throws Exception {
        Path plots = directory.resolve("plots");
        List<Figures> rows = rows(
                "--part", "worth", "--keys", "400", "--turns", "1", "--sessions", "3", "--report", plots.toString());
        Map<String, Figures> byName = new HashMap<>();
        for (Figures row : rows) {
            assertEquals("worth", row.text("part"));
            row.assertThere("p99_ns");
            byName.put(row.text("load") + " " + row.text("variant"), row);
        }
        assertEquals(21, byName.size());
        assertEquals(21, rows.size());
        ToDoubleBiFunction<String, String> of = (name, kind) -> byName.get(name).number(kind);
        assertEquals(2, of.applyAsDouble("fits table alone", "reads"), 0.1);
        assertEquals(0, of.applyAsDouble("fits table alone", "writes"));
        assertEquals(100, of.applyAsDouble("fits 32 LRU lists, 5 us", "hit_pct"));
        assertTrue(of.applyAsDouble("fits LRU list", "cas") >= 1, byName::toString);
        assertEquals(1, of.applyAsDouble("fits FC cache off", "faa"), 0.1);
        assertTrue(of.applyAsDouble("fits FC cache, all keys", "faa") < 0.3, byName::toString);
        double reads = of.applyAsDouble("misses all parts", "reads");
        assertTrue(of.applyAsDouble("misses no metadata in table", "reads") > reads + 0.3, byName::toString);
        assertTrue(of.applyAsDouble("misses no history in table", "reads") > reads + 0.3, byName::toString);
        assertTrue(of.applyAsDouble("misses no lazy weights", "reads") > reads + 0.1, byName::toString);
        for (String load :
                new String[] {"all parts", "nor metadata there", "all parts, 8 bytes", "library, adaptive"}) {
            double hits = of.applyAsDouble("misses " + load, "hit_pct");
            assertTrue(hits > 20 && hits < 95, byName::toString);
        }
        // The library's maps stand beside one of the others that moves as many bytes.
        assertEquals(8, of.applyAsDouble("misses all parts, 8 bytes", "value_bytes"));
        assertEquals(8, of.applyAsDouble("misses library, adaptive", "value_bytes"));
        assertEquals(248, of.applyAsDouble("fits library, adaptive", "value_bytes"));
        assertEquals(reads, of.applyAsDouble("misses all parts, 8 bytes", "reads"), 0.2);
        assertTrue(Files.exists(plots.resolve("kv-worth-lists.png")));
        assertTrue(Files.exists(plots.resolve("kv-worth-parts.png")));
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {
            {"--clients", "0"}, {"--objects", "0"}, {"--percent", "101"}, {"--sessions", "0"}, {"--seconds", "-1"}
        }) {
            assertEquals(1, Main.commandLine().execute("bench", "kv", "--trace", "none", wrong[0], wrong[1]));
        }
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--part", "traces"));
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--trace", directory.toString()));
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--keys", "1"));
        String nothing = directory.resolve("nothing").toString();
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--part", "ycsb", "--reference", nothing));
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--part", "worth", "--nic-model", "connectx5"));
        assertEquals(1, Main.commandLine().execute("bench", "kv", "--trace", nothing, "--reference", nothing));
    }
}
