package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.testing.Effort;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The manager itself on simulated spot markets; a seed makes its figures exact. */
class SpotMarketSimulationTest {

    private static final long SEED = 3;
    /** Long enough for fifty ends. */
    private static final double DAYS = Effort.either(1, 10);

    @TempDir
    private Path directory;

    private final StringWriter out = new StringWriter();

    private JsonObject simulated(String lives, double days) throws IOException {
        Path json = directory.resolve(lives + days);
        int status = new CommandLine(new SimulateCommand())
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(out))
                .execute("spot", "--lives=" + lives, "--days=" + days, "--seed=" + SEED, "--json=" + json);
        assertEquals(0, status, out::toString);
        return JsonParser.parseString(Files.readString(json))
                .getAsJsonObject()
                .getAsJsonArray("markets")
                .get(0)
                .getAsJsonObject();
    }

    private JsonObject meetsItsTargets(String lives) throws IOException {
        JsonObject market = simulated(lives, DAYS);
        assertEquals(
                List.of(),
                market.getAsJsonArray("missed_targets").asList().stream()
                        .map(JsonElement::getAsString)
                        .toList(),
                market::toString);
        assertTrue(market.get("moves").getAsLong() > 50, market::toString);
        assertTrue(market.get("machines_started").getAsLong() > 20, market::toString);
        assertTrue(market.get("observations").getAsLong() > 1_000, market::toString);
        return market;
    }

    @Test
    void aManagerJudgesExponentialLivesRightly() throws IOException {
        JsonObject market = meetsItsTargets("exponential");
        assertFalse(market.get("mean_hours_after_50_ends").isJsonNull(), market::toString);
    }

    @Test
    void aManagerJudgesLivesOfAgeingMachinesRightly() throws IOException {
        JsonObject market = meetsItsTargets("weibull");
        assertFalse(market.get("mean_hours_after_50_ends").isJsonNull(), market::toString);
    }

    @Test
    void aManagerJudgesRightlyIfRacksAreTakenAtOnce() throws IOException {
        meetsItsTargets("rack");
    }

    @Test
    void aManagerThatLosesManyRegionsWithRacksMissesItsTarget() {
        assertEquals(List.of(), figures(SpotLifeForm.EXPONENTIAL, 6, 82).missed());
        assertEquals(
                List.of("82 of 1000 regions on machines with a notice were lost"),
                figures(SpotLifeForm.RACK, 6, 82).missed());
        assertEquals(List.of(), figures(SpotLifeForm.RACK, 6, 31).missed());
        assertEquals(List.of(), figures(SpotLifeForm.RACK, Double.NaN, 82).missed(), "there were too few ends");
    }

    private static SpotFigures figures(SpotLifeForm lives, double mean, long lost) {
        return new SpotFigures(
                new SpotMarketOptions(lives, 6, 40, 30, SEED, true, 2),
                99,
                mean,
                mean,
                mean,
                100,
                0,
                0,
                100,
                0,
                100,
                0,
                0,
                10,
                10,
                1000,
                lost,
                0,
                0,
                0);
    }

    /** Here the ends can be foreseen, so caches leave ahead of the notice. */
    @Test
    void aManagerForeseesEndsAtTheSameAge() throws IOException {
        JsonObject market = meetsItsTargets("fixed");
        long early = market.get("early_moves").getAsLong();
        assertTrue(early > 10, market::toString);
        assertTrue(market.get("needless_moves").getAsLong() * 20 <= early, market::toString);
    }

    @Test
    void theSameSeedGivesTheSameFigures() throws IOException {
        assertEquals(simulated("weibull", 0.2), simulated("weibull", 0.2));
    }

    @Test
    void drawnLivesHaveTheirMean() {
        SplittableRandom random = new SplittableRandom(7);
        for (SpotLifeForm form : SpotLifeForm.values()) {
            double sum = 0;
            for (int i = 0; i < 20_000; i++) {
                sum += form.draw(random, 6);
            }
            assertEquals(6, sum / 20_000, 0.15, form::text);
            assertEquals(form, SpotLifeForm.parse(form.text()));
        }
        assertThrows(IllegalArgumentException.class, () -> SpotLifeForm.parse("long"));
    }
}
