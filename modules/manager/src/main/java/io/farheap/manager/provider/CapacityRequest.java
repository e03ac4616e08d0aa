package io.farheap.manager.provider;

import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;

/**
 * Room that is wanted.
 *
 * @param regions at least 1
 * @param room how many of these a machine of a lot has room for: by its cores, by where it stands, and by what could
 *     leave it within its notice. 0 where it does not do at all, such as for the size of its regions
 * @param burden what a machine of a lot costs beside its price, for an hour: moves to be expected, for one
 */
public record CapacityRequest(int regions, ToIntFunction<MachineOffer> room, ToDoubleFunction<MachineOffer> burden) {

    public CapacityRequest {
        if (regions < 1) {
            throw new IllegalArgumentException("a wish for " + regions + " regions; that is at least 1");
        }
    }
}
