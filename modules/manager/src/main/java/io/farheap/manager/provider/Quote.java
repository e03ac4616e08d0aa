package io.farheap.manager.provider;

import java.util.List;

/**
 * Machines that together have the room that was asked for.
 *
 * @param machines one entry for each machine
 * @param cost of all of them for an hour, the burden of the request included
 */
public record Quote(List<MachineOffer> machines, double cost) {

    public Quote {
        machines = List.copyOf(machines);
    }
}
