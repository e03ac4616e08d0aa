package io.farheap.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.contract.Resilience.Mode;
import io.farheap.soak.ChaosPlan.ChaosFault;
import io.farheap.soak.ChaosPlan.Corruption;
import io.farheap.soak.ChaosPlan.Step;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The chaos demands of a mode no more than the mode guarantees, and over all plans it demands all of that. */
class ChaosPlanTest {

    private static final int SEEDS = 5_000;

    @Test
    void nothingIsDoneThatTheModeDoesNotPromiseToBear() {
        for (long seed = 0; seed < SEEDS; seed++) {
            ChaosPlan plan = plan(seed, true);
            String what = "seed " + seed + ": " + plan;
            Resilience code = plan.code();
            assertTrue(code.splits() <= ChaosPlan.MOST_SPLITS, what);
            assertTrue(plan.ranges() >= 1 && plan.ranges() <= ChaosPlan.MOST_RANGES, what);
            assertFalse(code.strict() && code.mode() != Mode.FAILURE_RECOVERY, what);
            if (plan.corruption() != Corruption.NONE) {
                assertTrue(code.mode() == Mode.CORRUPTION_DETECTION || code.mode() == Mode.CORRUPTION_CORRECTION, what);
                assertFalse(plan.hasty(), what);
            }
            for (Step step : plan.steps()) {
                assertTrue(step.servers() >= 1, what);
                if (step.fault().costsSlabs()) {
                    assertTrue(step.servers() <= mostGone(plan), what);
                }
            }
        }
    }

    /** The number of servers that a range can do without and still keep the guarantees that the plan checks. */
    private static int mostGone(ChaosPlan plan) {
        Resilience code = plan.code();
        int needed = code.dataSplits();
        if (plan.corruption() != Corruption.NONE) {
            needed += code.mode() == Mode.CORRUPTION_CORRECTION ? 2 * code.additional() + 1 : code.additional();
        }
        int most = code.splits() - needed;
        return code.mode() == Mode.EC_ONLY ? Math.max(1, most) : most;
    }

    @Test
    void onlyWhatNoModePromisesMayEndBadly() {
        for (long seed = 0; seed < SEEDS; seed++) {
            ChaosPlan plan = plan(seed, true);
            String what = "seed " + seed + ": " + plan;
            assertEquals(plan.hasty() || plan.code().mode() == Mode.EC_ONLY, plan.mayLose(), what);
            assertEquals(
                    plan.corruption() != Corruption.NONE && plan.code().mode() == Mode.CORRUPTION_DETECTION,
                    plan.mayShow(),
                    what);
        }
    }

    @Test
    void allIsDrawn() {
        Set<Mode> modes = EnumSet.noneOf(Mode.class);
        Set<ChaosFault> faults = EnumSet.noneOf(ChaosFault.class);
        Set<String> corruptions = new HashSet<>();
        Set<String> others = new HashSet<>();
        for (long seed = 0; seed < SEEDS; seed++) {
            ChaosPlan plan = plan(seed, true);
            modes.add(plan.code().mode());
            plan.steps().forEach(step -> {
                faults.add(step.fault());
                others.add("several at a time " + (step.servers() > 1));
            });
            corruptions.add(plan.code().mode() + " " + plan.corruption());
            others.add("copies " + (plan.code().dataSplits() == 1));
            others.add("strict " + plan.code().strict());
            others.add("hasty " + plan.hasty());
            others.add("weak " + plan.weakOrder());
            others.add("stragglers " + plan.stragglers());
        }
        assertEquals(EnumSet.allOf(Mode.class), modes);
        assertEquals(EnumSet.allOf(ChaosFault.class), faults);
        // Two modes have no corruption, and two have each kind of corruption and none.
        assertEquals(2 + 2 * Corruption.values().length, corruptions.size(), corruptions::toString);
        assertEquals(2 * 6, others.size(), others::toString);
    }

    @Test
    void aRealDeviceIsAskedForNoFaultOfItsOwn() {
        for (long seed = 0; seed < SEEDS; seed++) {
            ChaosPlan plan = plan(seed, false);
            String what = "seed " + seed + ": " + plan;
            assertFalse(plan.weakOrder() || plan.stragglers(), what);
            assertEquals(Corruption.NONE, plan.corruption(), what);
            for (Step step : plan.steps()) {
                assertFalse(step.fault() == ChaosFault.CUT_DATA || step.fault() == ChaosFault.CUT_BOTH, what);
            }
        }
    }

    @Test
    void aSeedHasOnePlan() {
        for (long seed = 0; seed < 100; seed++) {
            assertEquals(plan(seed, true), plan(seed, true));
        }
    }

    private static ChaosPlan plan(long seed, boolean softverbs) {
        return ChaosPlan.draw(new SplittableRandom(seed), softverbs, softverbs);
    }
}
