package io.farheap.manager.allocation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Places ranges on random servers, as Hydra describes EC-Cache (section 5), or takes the less loaded of two random
 * servers for each slab (power of two choices). If there are many slabs, nearly each set of r + 1 servers has a range
 * in common, so the failure of any r + 1 servers loses data.
 */
public final class RandomPlacement implements RangePlacement {

    /** Draws for a slab that may fail before all servers are looked at. */
    private static final int ATTEMPTS = 32;

    private final List<GroupServer> servers;
    private final RandomGenerator random;
    private final int candidates;

    /**
     * @param servers that may be chosen; has random access, and a change of it shows at the next choice
     * @param candidates random servers of which the least loaded one is taken for a slab: 1 or 2
     * @throws IllegalArgumentException for another number of candidates
     */
    public RandomPlacement(List<GroupServer> servers, RandomGenerator random, int candidates) {
        if (candidates < 1 || candidates > 2) {
            throw new IllegalArgumentException(
                    candidates + " candidates for a slab; take 1 (random) or 2 (power of two choices)");
        }
        this.servers = servers;
        this.random = random;
        this.candidates = candidates;
    }

    @Override
    public @Nullable List<GroupServer> choose(int splits, ToDoubleFunction<GroupServer> load) {
        List<GroupServer> chosen = new ArrayList<>(splits);
        while (chosen.size() < splits) {
            GroupServer server = leastLoaded(chosen, load);
            if (server == null) {
                return null;
            }
            chosen.add(server);
        }
        return chosen;
    }

    @Override
    public @Nullable SlabChoice replace(List<GroupServer> rest, int splits, ToDoubleFunction<GroupServer> load) {
        GroupServer server = leastLoaded(rest, load);
        return server == null ? null : new SlabChoice(server, false);
    }

    @Override
    public List<GroupServer> outside(List<GroupServer> range, int splits) {
        return List.of();
    }

    /** Returns the least loaded candidate; null if no server fits. */
    private @Nullable GroupServer leastLoaded(List<GroupServer> others, ToDoubleFunction<GroupServer> load) {
        GroupServer server = candidate(others, load);
        if (server == null || candidates == 1) {
            return server;
        }
        GroupServer other = candidate(others, load);
        return other != null && load.applyAsDouble(other) < load.applyAsDouble(server) ? other : server;
    }

    /** Returns a random server with room, of a domain that no other one has; null if there is none. */
    private @Nullable GroupServer candidate(List<GroupServer> others, ToDoubleFunction<GroupServer> load) {
        int count = servers.size();
        for (int i = 0; i < ATTEMPTS && count > 0; i++) {
            GroupServer server = servers.get(random.nextInt(count));
            if (fits(server, others, load)) {
                return server;
            }
        }
        int first = count == 0 ? 0 : random.nextInt(count);
        for (int i = 0; i < count; i++) {
            GroupServer server = servers.get((first + i) % count);
            if (fits(server, others, load)) {
                return server;
            }
        }
        return null;
    }

    private static boolean fits(GroupServer server, List<GroupServer> others, ToDoubleFunction<GroupServer> load) {
        return load.applyAsDouble(server) < FULL && !server.sharesDomain(others);
    }
}
