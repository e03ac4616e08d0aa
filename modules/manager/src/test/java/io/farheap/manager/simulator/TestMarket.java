package io.farheap.manager.simulator;

import io.farheap.manager.allocation.Menu;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.manager.simulator.SpotMarket.SpotMachine;
import java.time.Duration;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Simulated spot markets with a mean life of 6 h that no manager uses. */
final class TestMarket {

    /** Long enough for each rack to be taken, in ms. */
    static final long TWO_MONTHS = 60L * 24 * 3_600_000;

    private TestMarket() {}

    static SpotMarket market(SpotLifeForm lives) {
        return market(lives, _ -> {});
    }

    static SpotMarket market(SpotLifeForm lives, Consumer<SpotMachine> ended) {
        SpotMarket market = new SpotMarket(lives, 6, new SplittableRandom(7), ended);
        market.open(Map.of(), () -> Menu.EMPTY, "", new IgnoringListener());
        return market;
    }

    static MachineOffer offer(SpotMarket market, boolean spot) {
        return market.menu().stream()
                .filter(lot -> lot.spot() == spot)
                .findFirst()
                .orElseThrow();
    }

    /** A manager that does nothing. */
    private static final class IgnoringListener implements ServerProvider.Listener {

        @Override
        public void reclaimed(Machine machine, Duration notice) {}

        @Override
        public void ended(Machine machine) {}

        @Override
        public void failed(Machine machine, String why) {}

        @Override
        public void available(String type, boolean spot) {}
    }
}
