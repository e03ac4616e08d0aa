package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.testing.Effort;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The manager itself on simulated spot markets; a seed makes its figures exact. */
class SpotMarketSimulationTest {

    private static final long SEED = 3;
    /** Long enough for fifty ends. */
    private static final double DAYS = Effort.either(1, 10);

    private static final long TWO_MONTHS = 60L * 24 * 3_600_000;

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
        JsonObject market = meetsItsTargets("rack");
        long lost = market.get("regions_lost").getAsLong();
        long inTurn = market.get("regions_lost_in_turn").getAsLong();
        long absent = market.get("regions_lost_absent").getAsLong();
        assertTrue(inTurn + absent <= lost, market::toString);
    }

    @Test
    void aRackWithoutSpotMachinesIsNoEnd() {
        assertEquals(0, takes(false));
        assertEquals(1, takes(true));
    }

    /** Returns how often racks count as taken within two months if only one has a machine. */
    private static long takes(boolean spot) {
        SpotMarket market = market(SpotLifeForm.RACK);
        market.start(offer(market, spot));
        market.pass(SpotMarket.START_MILLIS);
        market.pass(TWO_MONTHS);
        return market.takes();
    }

    @Test
    void theMeanThatWasDrawnIsThatOfMachinesThatHaveStarted() {
        SpotMarket market = market(SpotLifeForm.FIXED);
        market.start(offer(market, true));
        assertTrue(Double.isNaN(market.dealtHours()));
        market.pass(SpotMarket.START_MILLIS);
        assertEquals(6, market.dealtHours());
    }

    private static SpotMarket market(SpotLifeForm lives) {
        SpotMarket market = new SpotMarket(lives, 6, new SplittableRandom(7), _ -> {});
        market.open(Map.of(), () -> Menu.EMPTY, "", new Unheeded());
        return market;
    }

    private static MachineOffer offer(SpotMarket market, boolean spot) {
        return market.menu().stream()
                .filter(lot -> lot.spot() == spot)
                .findFirst()
                .orElseThrow();
    }

    /** A manager that does nothing. */
    private static final class Unheeded implements ServerProvider.Listener {

        @Override
        public void reclaimed(Machine machine, Duration notice) {}

        @Override
        public void ended(Machine machine) {}

        @Override
        public void failed(Machine machine, String why) {}

        @Override
        public void available(String type, boolean spot) {}
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
