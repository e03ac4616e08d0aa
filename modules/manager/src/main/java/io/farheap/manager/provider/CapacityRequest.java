package io.farheap.manager.provider;

import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;

/**
 * A request for room.
 *
 * @param regions at least 1
 * @param room how many of these a machine of an offer has room for: by its cores, by its place, and by what could leave
 *     it within its notice. 0 if the machine is unsuitable, for example because of the size of its regions
 * @param burden what a machine of an offer costs for an hour beside its price, for example the moves to be expected
 */
public record CapacityRequest(int regions, ToIntFunction<MachineOffer> room, ToDoubleFunction<MachineOffer> burden) {

    public CapacityRequest {
        if (regions < 1) {
            throw new IllegalArgumentException("a wish for " + regions + " regions; that is at least 1");
        }
    }
}
