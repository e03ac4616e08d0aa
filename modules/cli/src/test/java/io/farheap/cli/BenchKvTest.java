package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.nio.file.Files;
import java.nio.file.Path;
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

    @Test
    void whatMakesNoSenseIsRefused() {
        for (String[] wrong : new String[][] {{"--clients", "0"}, {"--objects", "0"}, {"--percent", "101"}}) {
            assertEquals(1, Main.commandLine().execute("bench", "kv", "--trace", "none", wrong[0], wrong[1]));
        }
    }
}
