package io.farheap.manager.simulator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.CacheRequest;
import io.farheap.manager.Reclaim;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.manager.simulator.SpotMarket.SpotMachine;
import io.farheap.testing.Effort;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;
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

    @Test
    void aCacheLosesRegionsOnEachMachineOfItsRack() {
        RackLosses rack = new RackLosses();
        RegionLosses losses = rack.take();
        assertEquals(8, losses.all());
        assertEquals(5, losses.inTurn(), "of the second machine, which was to be left after the first");
        assertEquals(0, losses.absent());
        assertEquals(List.of(rack.cache), rack.closed);
    }

    @Test
    void aClientThatIsBackInTimeLosesNothingByItsAbsence() {
        RackLosses rack = new RackLosses();
        rack.awayMillis = 500;
        RegionLosses losses = rack.take();
        assertEquals(5, losses.inTurn());
        assertEquals(0, losses.absent());
    }

    @Test
    void aClientThatIsAwayForLongLosesByItsAbsence() {
        RackLosses rack = new RackLosses();
        rack.awayMillis = 25_000;
        RegionLosses losses = rack.take();
        assertEquals(0, losses.inTurn());
        assertEquals(5, losses.absent());
    }

    /** A cache with regions on two machines of a rack that is taken. */
    private static final class RackLosses {

        private static final long ID = 5;

        private final List<SpotMachine> gone = new ArrayList<>();
        private final List<SpotCache> closed = new ArrayList<>();
        private final SpotMarket market = market(SpotLifeForm.RACK, gone::add);
        private final SpotMachine first = machine();
        private final SpotMachine second = machine();
        private final SpotCache cache = new SpotCache(
                new CacheRequest(ID, 1, "cache", 8 * CostMeter.GIB, 0, "", List.of(AllocationCandidate.ANY)),
                2 * TWO_MONTHS,
                2 * TWO_MONTHS);
        private long awayMillis;

        private SpotMachine machine() {
            return (SpotMachine) market.start(offer(market, true));
        }

        private void put(SpotMachine machine, int regions) {
            machine.held.put(ID, regions);
            cache.regions.put(machine.number, regions);
        }

        RegionLosses take() {
            market.pass(SpotMarket.START_MILLIS);
            put(first, 3);
            put(second, 5);
            market.pass(TWO_MONTHS);
            cache.sources.add(first);
            long begins = second.endsAt() - 1_000;
            cache.move = new SpotCache.ClientMove(
                    new Reclaim(ID, 1, Reclaim.Reason.LEAVES, second.hostPort(), 0, List.of()),
                    second,
                    awayMillis,
                    begins,
                    begins + 5 * SpotMarketSimulation.MOVE_MILLIS);
            market.pass(TWO_MONTHS + SpotMarket.NOTICE_MILLIS);
            assertEquals(List.of(first, second), gone);
            Map<Long, SpotCache> caches = new TreeMap<>(Map.of(ID, cache));
            RegionLosses losses = new RegionLosses();
            losses.count(gone, caches, one -> {
                caches.remove(one.id());
                closed.add(one);
            });
            return losses;
        }
    }

    @Test
    void aRackWithoutSpotMachinesIsNoEnd() {
        assertEquals(0, takes(false, false));
        assertEquals(1, takes(true, false));
        assertEquals(0, takes(true, true));
    }

    /** Returns how often racks count as taken within two months if only one has a machine. */
    private static long takes(boolean spot, boolean stopped) {
        SpotMarket market = market(SpotLifeForm.RACK);
        Machine machine = market.start(offer(market, spot));
        market.pass(SpotMarket.START_MILLIS);
        if (stopped) {
            machine.stop();
        }
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
        return market(lives, _ -> {});
    }

    private static SpotMarket market(SpotLifeForm lives, Consumer<SpotMachine> ended) {
        SpotMarket market = new SpotMarket(lives, 6, new SplittableRandom(7), ended);
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
