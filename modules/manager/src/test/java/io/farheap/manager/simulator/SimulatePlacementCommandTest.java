package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SimulatePlacementCommandTest {

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    private int run(String... arguments) {
        return new CommandLine(new SimulateCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(out))
                .execute(arguments);
    }

    @Test
    void writesItsRows() throws IOException {
        Path json = directory.resolve("placement.json");
        assertEquals(
                0,
                run(
                        "placement",
                        "--servers=240",
                        "--slabs=4,8",
                        "--failed=2",
                        "--trials=20",
                        "--years=0.2",
                        "--rack-servers=12",
                        "--seed=7",
                        "--json=" + json),
                out::toString);
        JsonObject figures = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        assertEquals(7, figures.get("seed").getAsLong());
        List<JsonObject> rows = figures.getAsJsonArray("rows").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .toList();
        assertEquals(
                List.of(
                        "random",
                        "two-choices",
                        "coding-sets",
                        "coding-sets",
                        "coding-sets",
                        "emptier-group",
                        "random",
                        "two-choices",
                        "coding-sets",
                        "coding-sets",
                        "coding-sets",
                        "emptier-group"),
                rows.stream().map(row -> row.get("scheme").getAsString()).toList());
        for (JsonObject row : rows) {
            assertEquals(240, row.get("servers").getAsInt());
            assertEquals(8, row.get("k").getAsInt());
            assertEquals(2, row.get("r").getAsInt());
            assertEquals(5, row.get("failed").getAsInt());
            assertEquals(20, row.get("trials").getAsInt());
            for (String name : List.of("loss_formula", "loss_exact", "loss_simulated", "loss_stderr")) {
                double value = row.get(name).getAsDouble();
                assertTrue(value >= 0 && value <= 1, row::toString);
            }
            assertTrue(row.get("imbalance").getAsDouble() >= 1, row::toString);
            assertTrue(row.has("paper"), row::toString);
            assertTrue(row.get("covered").getAsDouble() > 0, row::toString);
        }
        assertTrue(rows.getFirst().get("l").isJsonNull());
        assertEquals(4, rows.get(4).get("l").getAsInt());
        assertEquals(4, rows.getFirst().get("slabs").getAsInt());
        assertEquals(8, rows.getLast().get("slabs").getAsInt());
        List<JsonObject> time = figures.getAsJsonArray("over_time").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .toList();
        assertEquals(12, time.size(), "two numbers of slabs, racks or servers as domains, and three schemes");
        assertEquals("racks", time.getFirst().get("domains").getAsString());
        assertEquals("emptier-group", time.getLast().get("scheme").getAsString());
        assertEquals(4, time.getFirst().get("slabs").getAsInt());
        assertEquals(8, time.getLast().get("slabs").getAsInt());
        for (JsonObject row : time) {
            assertEquals(12, row.get("rack_servers").getAsInt());
            assertEquals(16, row.get("cache_ranges").getAsInt());
            assertEquals(5, row.get("return_minutes").getAsDouble());
            assertEquals(0, row.get("left_over").getAsInt());
            assertTrue(row.get("imbalance").getAsDouble() >= 1, row::toString);
        }
        assertTrue(time.getLast().get("servers_failed").getAsLong() > 10);
        assertTrue(time.getLast().get("ranges_lost_a_year_chain").getAsDouble() > 0);
        assertEquals(9, figures.getAsJsonArray("savings").size());
        assertTrue(
                out.toString()
                        .contains("./farheap simulate placement --servers 240 --slabs 4,8 --code 8+2 --spare 0,2,4 "
                                + "--failed 2.0 --trials 20 --years 0.2 --life-days 365.0 --rack-servers 12 "),
                out::toString);
        assertTrue(out.toString().contains(" --return-minutes 5.0 --seed 7"), out::toString);
        assertFalse(out.toString().contains("the imbalance is"), "the target is one for 16 slabs");
    }

    @Test
    void simulatesEachCodeOverTimeOnce() throws IOException {
        Path json = directory.resolve("codes.json");
        assertEquals(
                0,
                run(
                        "placement",
                        "--servers=60",
                        "--code=4+2,1+1",
                        "--slabs=2",
                        "--failed=1,5",
                        "--trials=1",
                        "--years=0.1",
                        "--rack-servers=5",
                        "--seed=3",
                        "--json=" + json),
                out::toString);
        List<String> codes =
                JsonParser.parseString(Files.readString(json))
                        .getAsJsonObject()
                        .getAsJsonArray("over_time")
                        .asList()
                        .stream()
                        .map(JsonElement::getAsJsonObject)
                        .map(row -> row.get("k").getAsInt() + "+" + row.get("r").getAsInt())
                        .toList();
        assertEquals(12, codes.size(), codes::toString);
        assertEquals(List.of("4+2", "1+1"), codes.stream().distinct().toList());
    }

    @Test
    void saysWhyRacksAreNoDomainsOfASmallCluster() {
        assertEquals(0, run("placement", "--servers=100", "--trials=2", "--years=0.1", "--seed=1"), out::toString);
        assertTrue(out.toString().contains("not simulated: 4 failure domains of 32 servers"), out::toString);
    }

    @Test
    void refusesWhatCannotBeSimulated() {
        assertEquals(1, run("placement", "--servers=5"));
        assertTrue(out.toString().contains("a cluster of 5 servers"), out::toString);
        assertEquals(1, run("placement", "--code=8"));
        assertTrue(out.toString().contains("a code of '8'"), out::toString);
        assertEquals(1, run("placement", "--years=-1", "--trials=1"));
        assertTrue(out.toString().contains("-1.0 years"), out::toString);
        assertEquals(1, run("placement", "--spare=-1", "--trials=1"));
        assertTrue(out.toString().contains("groups of k + r + l = 10 + -1"), out::toString);
        assertEquals(1, run("placement", "--code=1+1", "--spare=1023", "--servers=3000", "--slabs=1", "--trials=1"));
        assertTrue(out.toString().contains("take l from 0 to 1022"), out::toString);
        assertFalse(out.toString().contains("NullPointerException"), out::toString);
    }
}
