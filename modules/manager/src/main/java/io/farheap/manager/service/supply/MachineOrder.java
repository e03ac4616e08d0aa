package io.farheap.manager.service.supply;

import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.Quote;
import java.util.Collection;
import java.util.Map;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * How a cache will get the room that it lacks now: what is free already, room on machines that are coming, and machines
 * to start.
 *
 * @param free regions that are free now, by server
 * @param coming regions on machines that are coming
 * @param quote the machines to start; without any if the others are enough
 * @param wanted how many regions these machines are for
 * @param room how many of them one machine has room for
 * @param threads server threads for a region
 */
public record MachineOrder(
        Map<Long, Integer> free,
        Map<Fleet.StartedMachine, Integer> coming,
        Quote quote,
        int wanted,
        ToIntFunction<MachineOffer> room,
        double threads) {

    /** Returns for how many regions it is. */
    int regions() {
        return Stream.of(free.values(), coming.values())
                        .flatMap(Collection::stream)
                        .mapToInt(Integer::intValue)
                        .sum()
                + wanted;
    }

    double cost() {
        return quote.cost();
    }
}
