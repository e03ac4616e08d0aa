package io.farheap.bench.ycsb;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Rotation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

/**
 * The turns of the contestants that take part in one load. In each round each has a turn, in an order that rotates
 * among these alone, and so many rounds count that each has each place equally often.
 */
final class ContestRounds {

    private final YcsbPlan plan;
    private final KeyDistribution distribution;
    private final int threads;
    private final List<Entrant> entrants;
    private final List<ContestResult> results = new ArrayList<>();
    /** By the number of threads. */
    private final Map<Integer, List<KeyStream>> streams = new HashMap<>();

    private final int count;
    private final Rotation rotation;

    /**
     * @param open contestants, of which some may not take part in this load
     * @param budget returns the local memory of a store with a share of the log
     */
    ContestRounds(
            YcsbPlan plan,
            KeyDistribution distribution,
            int threads,
            List<Entrant> open,
            ToLongFunction<Double> budget) {
        this.plan = plan;
        this.distribution = distribution;
        this.threads = threads;
        entrants = open.stream()
                .filter(entrant -> entrant.takes(plan, distribution, threads))
                .toList();
        int sides = Math.max(1, entrants.size());
        count = entrants.isEmpty() ? 0 : Rotation.whole(sides, plan.rounds());
        rotation = new Rotation(sides, count);
        for (Entrant entrant : entrants) {
            results.add(new ContestResult(
                    entrant.name(),
                    distribution,
                    threads,
                    entrant.localShare(),
                    budget.applyAsLong(entrant.localShare())));
        }
    }

    /** Returns how many rounds count; 0 if there is no contestant. */
    int count() {
        return count;
    }

    /**
     * Runs a round.
     *
     * @param round negative if it does not count
     */
    void run(int round, ModelLateness lateness) {
        for (int place : rotation.order(round)) {
            Contestant contestant = entrants.get(place).contestant();
            List<KeyStream> keys = streams.computeIfAbsent(
                    contestant.threads(threads),
                    own -> KeyStream.of(distribution, plan.data().records(), own));
            lateness.restart();
            ContestTurn turn = ExternalContestant.turn(contestant, plan.workload(), keys, plan.turnNanos());
            if (round < 0) {
                results.get(place).warmUp(turn);
            } else {
                results.get(place).add(turn, contestant, lateness);
            }
        }
    }

    /** Whether the last three turns of the warm-up agreed within 5%, for each contestant. */
    boolean settled() {
        return results.stream().allMatch(ContestResult::settled);
    }

    /** Returns a result for each contestant, in the order in which they were opened. */
    List<ContestResult> results() {
        return List.copyOf(results);
    }
}
