package io.farheap.bench.ycsb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Contestants of one load take turns, and each has each place equally often, however few rounds are wanted. */
class ContestRoundsTest {

    private static final List<KeyDistribution> BOTH = List.of(KeyDistribution.UNIFORM, KeyDistribution.ZIPFIAN);

    private final StringBuilder order = new StringBuilder();

    /** @param own its own number of threads; 0 for the plan's */
    private Entrant entrant(String name, List<KeyDistribution> distributions, int own) {
        return new Entrant(name, 0.5, distributions, new ExternalContestant() {
            @Override
            public boolean takes(YcsbWorkload workload, KeyDistribution distribution) {
                return true;
            }

            @Override
            public ContestTurn turn(int threads, long nanos) {
                order.append(name);
                return new ContestTurn(100, new ClientCounts(), 0);
            }

            @Override
            public int threads(int clients) {
                return own == 0 ? clients : own;
            }

            @Override
            public void load() {}

            @Override
            public Facts facts() {
                return Facts.inMemory(0);
            }

            @Override
            public Means means() {
                return Means.single(100);
            }

            @Override
            public void close() {}
        });
    }

    private static YcsbPlan plan(int rounds) {
        return new YcsbPlan(
                new DataSet(1000, 8), YcsbWorkload.C, List.of(1, 2), rounds, 1, Path.of("."), List.of(), null);
    }

    private static ContestRounds rounds(KeyDistribution distribution, int threads, List<Entrant> open) {
        return new ContestRounds(plan(5), distribution, threads, open, share -> 100);
    }

    @Test
    void eachHasEachPlaceEquallyOftenAmongThoseThatTakePart() {
        List<Entrant> open = new ArrayList<>();
        for (char name = 'a'; name <= 'g'; name++) {
            // One of them has uniform keys alone, and one has threads of its own.
            open.add(entrant(String.valueOf(name), name == 'c' ? BOTH.subList(0, 1) : BOTH, name == 'e' ? 64 : 0));
        }
        ContestRounds rounds = rounds(KeyDistribution.ZIPFIAN, 2, open);
        assertEquals(5, rounds.count());
        try (ModelLateness lateness = new ModelLateness()) {
            rounds.run(-1, lateness);
            order.setLength(0);
            for (int round = 0; round < rounds.count(); round++) {
                rounds.run(round, lateness);
            }
        }
        String names = "abdfg";
        int[][] places = new int[names.length()][names.length()];
        for (int i = 0; i < order.length(); i++) {
            int side = names.indexOf(order.charAt(i));
            assertTrue(side >= 0, order::toString);
            places[side][i % names.length()]++;
        }
        for (int[] ofSide : places) {
            assertArrayEquals(new int[] {1, 1, 1, 1, 1}, ofSide);
        }
        assertEquals(
                List.of("a", "b", "d", "f", "g"),
                rounds.results().stream().map(result -> result.contestant).toList());
    }

    /** Each figure is of at least 2 seconds, also if few contestants take part: a disk's shorter samples are noise. */
    @Test
    void theUsualRoundsOfFewContestantsTakeLongEnough() {
        CommandSpec usual = new CommandLine(new BenchYcsbCommand()).getCommandSpec();
        int rounds = Integer.parseInt(usual.findOption("--rounds").defaultValue());
        long millis = Long.parseLong(usual.findOption("--turn").defaultValue().replace("ms", ""));
        for (int contestants : new int[] {1, 3, 5}) {
            assertTrue(Rotation.whole(contestants, rounds) * millis >= 2000, contestants + " contestants");
        }
    }

    @Test
    void turnsDuringAResizeAreNoShorterThanTheirOpeningAllows() {
        // The plan's turns have 1 ns.
        assertEquals(100_000_000, plan(5).resizeTurnNanos());
    }

    @Test
    void moreRoundsThanWantedCountIfThereAreMoreContestants() {
        List<Entrant> open = new ArrayList<>();
        for (char name = 'a'; name <= 'h'; name++) {
            open.add(entrant(String.valueOf(name), BOTH, 0));
        }
        assertEquals(8, rounds(KeyDistribution.UNIFORM, 1, open).count());
        assertEquals(6, rounds(KeyDistribution.UNIFORM, 1, open.subList(0, 3)).count());
        assertEquals(0, rounds(KeyDistribution.LATEST, 1, open).count());
    }
}
