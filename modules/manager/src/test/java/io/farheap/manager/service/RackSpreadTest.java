package io.farheap.manager.service;

import static io.farheap.manager.service.TestCluster.DAY_MILLIS;
import static io.farheap.manager.service.TestCluster.MIB;
import static io.farheap.manager.service.TestCluster.SECOND;
import static io.farheap.manager.service.TestCluster.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.control.ControlException.Code;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.Quote;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** In which racks machines are started; only the tests advance the clock. */
class RackSpreadTest {

    private final TestCluster cluster = new TestCluster(
            new ManagerOptions(3 * SECOND, 30 * SECOND, true, 2, new Supply(0, 60 * SECOND, 300 * SECOND)), 1);
    /** Where machines do not start. */
    private final Set<String> failing = new HashSet<>();
    /** Where a machine was to start, each time. */
    private final List<String> tried = new ArrayList<>();

    private final TestProvider provider = new TestProvider(report -> cluster.manager.report(report), machine -> {
        tried.add(rack(machine));
        if (failing.contains(rack(machine))) {
            machine.fail("another customer got the last machine");
        }
    });

    private static MachineOffer lot(String rack, boolean spot, double price, int available) {
        return lot("c", rack, spot, price, available);
    }

    private static MachineOffer lot(String group, String rack, boolean spot, double price, int available) {
        return new MachineOffer("t", spot, price, MIB, 4, "d/" + group + "/" + rack, 30_000, available);
    }

    private static MachineOffer spot(String rack, int available) {
        return lot(rack, true, 0.1, available);
    }

    private void start(MachineOffer... lots) {
        provider.lots = List.of(lots);
        cluster.manager.menu("""
                {"types": [{"name": "t", "cores": 4, "memory": "4m", "price": 2, "spot_price": 0.1}]}""");
        cluster.manager.use(provider, Map.of(), "manager:1");
    }

    private void busy(long id, int regions) {
        refusal(Code.BUSY, () -> cluster.allocate(id, regions, DAY_MILLIS));
    }

    private static String rack(TestProvider.TestMachine machine) {
        return machine.lot.place().substring(4);
    }

    private List<String> racks() {
        return provider.machines.stream().map(RackSpreadTest::rack).toList();
    }

    /** A market may take a rack at once, and its client leaves one server after the other. */
    @Test
    void aCacheOnSeveralSpotMachinesHasThemInDifferentRacks() {
        start(spot("a", 9), spot("b", 9), spot("c", 9));
        busy(7, 16);
        assertEquals(List.of("a", "b", "c", "a"), racks());
    }

    @Test
    void aSpotMachineIsStartedInTheRackThatHasTheFewest() {
        start(spot("a", 9), spot("b", 9));
        busy(7, 4);
        busy(8, 4);
        assertEquals(List.of("a", "b"), racks(), "machines that come count");
        provider.machines.forEach(TestProvider.TestMachine::serve);
        cluster.allocate(7, 4, DAY_MILLIS);
        cluster.allocate(8, 4, DAY_MILLIS);
        cluster.pass(2_000);
        provider.machines.get(0).report(0, Map.of(7L, 4));
        provider.machines.get(1).report(0, Map.of(8L, 4));
        busy(9, 4);
        assertEquals(List.of("a", "b", "a"), racks(), "servers count, and the first of several is taken");
        provider.machines.get(2).serve();
        cluster.allocate(9, 4, DAY_MILLIS);
        cluster.manager.deallocate(7);
        cluster.manager.deallocate(9);
        provider.machines.get(0).reclaim(Duration.ofSeconds(30));
        provider.machines.get(2).reclaim(Duration.ofSeconds(30));
        cluster.pass(2_000);
        provider.machines.get(1).report(0, Map.of(8L, 4));
        busy(10, 4);
        assertEquals("b", racks().getLast(), "the market may be taking the whole rack");
        provider.machines.get(2).end();
        provider.machines.get(0).end();
        cluster.pass(180_000);
        busy(11, 4);
        assertEquals("a", racks().getLast(), "servers that have ended do not count");
    }

    /** The provider lists them still, and the rack has the fewest spot machines as long as none starts. */
    @Test
    void aRackInWhichMachinesFailToStartComesLast() {
        failing.add("b");
        start(spot("a", 9), spot("b", 9));
        busy(7, 4);
        busy(8, 4);
        busy(9, 4);
        assertEquals(List.of("a", "a", "a"), racks());
        assertEquals(1, Collections.frequency(tried, "b"));
        cluster.pass(180_000);
        busy(10, 4);
        assertEquals(2, Collections.frequency(tried, "b"), "it is tried again");
        assertEquals(List.of("a", "a", "a", "a"), racks());
    }

    @Test
    void aRackInWhichMachinesFailToStartIsUsedIfNoOtherHasAny() {
        failing.add("b");
        start(spot("a", 9), spot("b", 9));
        busy(7, 4);
        busy(8, 4);
        failing.clear();
        provider.lots = List.of(spot("a", 0), spot("b", 9));
        busy(9, 4);
        assertEquals(List.of("a", "a", "b"), racks());
    }

    /** A rack that was taken a while ago has no machine. */
    @Test
    void aCacheIsSpreadThoughOneRackHasFewMachines() {
        start(spot("a", 9), spot("b", 9));
        for (int cache = 1; cache <= 6; cache++) {
            busy(cache, 4);
        }
        assertEquals(List.of("a", "b", "a", "b", "a", "b"), racks());
        provider.lots = List.of(spot("a", 6), spot("b", 6), spot("c", 9));
        busy(7, 12);
        assertEquals(List.of("c", "a", "b"), racks().subList(6, 9));
    }

    @Test
    void aCacheThatGrowsGetsMachinesInAnotherRack() {
        start(spot("a", 9));
        busy(7, 4);
        provider.machines.getFirst().serve();
        cluster.allocate(7, 4, DAY_MILLIS);
        provider.lots = List.of(spot("b", 9));
        busy(8, 4);
        busy(9, 4);
        cluster.pass(2_000);
        provider.machines.getFirst().report(0, Map.of(7L, 4));
        provider.lots = List.of(spot("a", 8), spot("b", 7));
        refusal(Code.BUSY, () -> cluster.manager.reallocate(7, 8 * MIB, List.of()));
        assertEquals(List.of("a", "b", "b", "b"), racks());
    }

    /** It would be farther from clients. */
    @Test
    void aRackOfAnotherClusterIsNotUsedForThat() {
        start(spot("a", 9), spot("b", 9), lot("o", "c", true, 0.1, 9));
        busy(7, 12);
        assertEquals(List.of("a", "b", "a"), racks());
    }

    @Test
    void ofRacksThatAreEqualTheProvidersChoiceIsTaken() {
        start(spot("a", 9), spot("b", 9));
        provider.choice = quote -> new Quote(List.of(spot("b", 9)), quote.cost());
        busy(7, 4);
        busy(8, 4);
        busy(9, 4);
        assertEquals(List.of("b", "a", "b"), racks());
    }

    @Test
    void aRackThatCostsMoreOrHasNoMachineIsNotUsedForThat() {
        start(spot("a", 1), spot("b", 9), lot("c", true, 0.2, 9));
        busy(7, 12);
        assertEquals(List.of("a", "b", "b"), racks().stream().sorted().toList());
    }

    /** A market does not take them. */
    @Test
    void machinesAtTheFullPriceAreStartedAsTheProviderOffersThem() {
        start(lot("a", false, 2, 9), lot("b", false, 2, 9));
        busy(7, 12);
        assertEquals(List.of("a", "a", "a"), racks());
    }
}
