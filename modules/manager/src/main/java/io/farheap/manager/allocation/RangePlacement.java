package io.farheap.manager.allocation;

import java.util.List;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the servers of coded ranges: k + r servers of different failure domains for each range (Hydra, section 5). It
 * takes nothing from the servers: a caller that uses a choice counts its slabs in the loads of the next one.
 *
 * <p>Without I/O and clock. Not thread-safe.
 */
public interface RangePlacement {

    /** The load of a server that has no room for a slab. */
    double FULL = Double.POSITIVE_INFINITY;

    /**
     * Chooses the servers of a new range.
     *
     * @param splits k + r, above 0
     * @param load of a server, such as the number of its slabs, or their part of its memory; {@link #FULL} if it has no
     *     room for one more slab
     * @return one server for each slab; null if there is no room for the range
     */
    @Nullable
    List<GroupServer> choose(int splits, ToDoubleFunction<GroupServer> load);

    /**
     * Chooses the server of one slab of a range that has lost it.
     *
     * @param rest the servers of the range's other slabs
     * @param splits k + r of the range
     * @param load as for {@link #choose}
     * @return a server of a failure domain in which the range has no slab; null if none has room
     */
    @Nullable
    SlabChoice replace(List<GroupServer> rest, int splits, ToDoubleFunction<GroupServer> load);

    /**
     * Returns those of a range's servers that are outside ({@link SlabChoice#outside}). Their slabs should come back
     * when {@link #replace} finds a server that is not.
     *
     * @param range the servers of its slabs
     * @param splits k + r of the range
     */
    List<GroupServer> outside(List<GroupServer> range, int splits);
}
