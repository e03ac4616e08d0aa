package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class SimulateCommandTest {

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
    void writesItsFiguresAndPlots() throws IOException {
        Path json = directory.resolve("figures.json");
        Path plots = directory.resolve("plots");
        assertEquals(
                0,
                run("--servers=300", "--days=0.2", "--seed=5", "--compare", "--json=" + json, "--plots=" + plots),
                out::toString);
        JsonObject figures = JsonParser.parseString(Files.readString(json)).getAsJsonObject();
        for (String name : List.of("unallocated_pct", "stranded_pct")) {
            assertEquals(
                    Set.of("p1", "p10", "p50", "p90", "p99"),
                    figures.getAsJsonObject(name).keySet());
        }
        assertEquals(
                Set.of("p25", "p50", "p75"),
                figures.getAsJsonObject("stranding_minutes").keySet());
        assertEquals(Set.of("1", "3", "5"), figures.getAsJsonObject("reach_tb").keySet());
        for (String name : List.of(
                "caches",
                "refused",
                "regions_moved",
                "regions_lost",
                "objectives_missed_pct",
                "cost_pct_of_full_price",
                "allocations_per_s",
                "slowest_allocation_us")) {
            assertTrue(figures.get(name).getAsDouble() >= 0, name);
        }
        assertEquals(
                Set.of("no_spot", "no_release_moves", "no_searches", "none_of_them"),
                figures.getAsJsonObject("compared").keySet());
        JsonObject fitted = figures.getAsJsonObject("fitted");
        assertTrue(fitted.getAsJsonArray("parameters").size() > 5);
        JsonObject spread = fitted.getAsJsonArray("figures").asList().stream()
                .map(JsonElement::getAsJsonObject)
                .filter(one -> one.get("figure").getAsString().equals("unallocated memory, p1 to p50"))
                .findFirst()
                .orElseThrow();
        assertEquals(18, spread.get("paper").getAsDouble(), "46 less 28");
        JsonObject unallocated = figures.getAsJsonObject("unallocated_pct");
        assertEquals(
                unallocated.get("p50").getAsDouble() - unallocated.get("p1").getAsDouble(),
                spread.get("simulated").getAsDouble(),
                2e-3);
        assertTrue(out.toString().contains("unallocated memory, p1 to p50"), out::toString);
        assertTrue(Files.size(plots.resolve("stranded-reach.png")) > 1_000);
        assertTrue(Files.size(plots.resolve("stranding-duration.png")) > 1_000);
        assertTrue(out.toString().contains("--seed 5"), out::toString);
        assertTrue(out.toString().contains("fitted, not observed"), out::toString);
    }

    @Test
    void refusesWhatCannotBeSimulated() {
        assertEquals(1, run("--servers=0"));
        assertTrue(out.toString().contains("0 servers"), out::toString);
    }
}
