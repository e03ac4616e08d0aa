package io.farheap.manager.simulator;

import static io.farheap.manager.simulator.TestMarket.TWO_MONTHS;
import static io.farheap.manager.simulator.TestMarket.market;
import static io.farheap.manager.simulator.TestMarket.offer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.provider.Machine;
import org.junit.jupiter.api.Test;

/** What a simulated spot market counts. */
class SpotMarketTest {

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
        assertTrue(Double.isNaN(market.drawnHours()));
        market.pass(SpotMarket.START_MILLIS);
        assertEquals(6, market.drawnHours());
    }
}
