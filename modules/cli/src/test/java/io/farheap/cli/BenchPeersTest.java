package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The benchmark as a user runs it on a machine on which no peer is installed. */
@Needs(Need.HOST)
@Tag("full")
class BenchPeersTest {

    /** No server of a peer is found. */
    private static final Map<String, String> NOTHING_INSTALLED = Map.of("PATH", "/nowhere");

    @TempDir
    private Path reports;

    @TempDir
    private Path disk;

    @Test
    void measuresWhatIsThereAndSaysWhatIsNot() throws Exception {
        Path json = reports.resolve("peers.json");
        CommandProcess bench = start(
                "--size",
                "8,4096",
                "--rounds",
                "1",
                "--turn",
                "2ms",
                "--json",
                json.toString(),
                "--report",
                reports.toString());
        String output = bench.awaitEnd(0);

        Map<String, Integer> measured = new TreeMap<>();
        Map<String, String> absent = new TreeMap<>();
        for (Figures row : Figures.read(json).rows()) {
            if (row.has("absent")) {
                absent.put(row.text("peer"), row.text("absent"));
            } else {
                row.assertThere("p50_ns", "p99_ns");
                row.assertCount(1, "in_flight");
                row.assertCount(1, "threads");
                row.assertCount(1, "group");
                boolean local = row.text("peer").equals("local memory")
                        || row.text("peer").equals("file");
                row.assertCount(local ? row.number("size") : 0, "bytes_local");
                measured.merge(row.text("peer"), 1, Integer::sum);
            }
        }
        for (String peer : List.of("local memory", "Farheap", "loop (C)", "file", "Unix socket")) {
            assertEquals(4, measured.get(peer), peer + ": get and put of two sizes\n" + output);
        }
        assertTrue(absent.get("UCX (C)").contains("ucx_perftest is not installed"), absent.toString());
        assertTrue(absent.get("UCX, flushed (C)").contains("there is no C compiler"), absent.toString());
        assertTrue(
                absent.get("perftest, shared memory (C)").contains("ib_read_lat is not installed"), absent.toString());
        assertTrue(absent.get("perftest (C)").contains("ib_read_lat is not installed"), absent.toString());
        assertTrue(
                absent.get("perftest, 128 in flight (C)").contains("ib_read_bw is not installed"), absent.toString());
        for (String peer : List.of("UCX (jucx)", "Redis (Lettuce)", "memcached (XMemcached)")) {
            assertTrue(absent.get(peer).contains("not on the class path"), absent.toString());
        }
        assertTrue(
                Files.size(reports.resolve("peers-get.png")) > 0 && Files.size(reports.resolve("peers-put.png")) > 0);
        assertNothingIsLeft(bench);
    }

    @Test
    void killedHalfWayItLeavesNoProcess() throws Exception {
        CommandProcess bench = start("--size", "8", "--rounds", "1000000", "--turn", "2ms");
        bench.awaitLine("round 1 of");
        bench.kill();
        bench.assertNothingIsLeft();
    }

    private CommandProcess start(String... options) throws IOException {
        String[] arguments = Stream.concat(
                        Stream.of("bench", "peers", "--directory", disk.toString()), Stream.of(options))
                .toArray(String[]::new);
        return CommandProcess.start(NOTHING_INSTALLED, arguments);
    }

    private void assertNothingIsLeft(CommandProcess bench) throws InterruptedException, IOException {
        bench.assertNothingIsLeft();
        try (Stream<Path> files = Files.list(disk)) {
            assertEquals(List.of(), files.toList());
        }
    }
}
