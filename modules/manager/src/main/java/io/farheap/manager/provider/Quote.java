package io.farheap.manager.provider;

import java.util.List;

/**
 * Machines that together have the room that was wished for.
 *
 * @param machines one entry for each
 * @param cost of all of them for an hour, the wish's burden included
 */
public record Quote(List<MachineOffer> machines, double cost) {

    public Quote {
        machines = List.copyOf(machines);
    }
}
