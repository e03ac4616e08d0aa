package io.farheap.resilience.keeper;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.Slab;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the server for a slab: one in a failure domain that has no slab of the range yet, with the fewest slabs of
 * the space.
 */
public final class SlabPlacement {

    private final Function<RemoteServer, String> domains;

    /** @param domains names the failure domain of a server */
    public SlabPlacement(Function<RemoteServer, String> domains) {
        this.domains = domains;
    }

    public String domain(RemoteServer server) {
        return domains.apply(server);
    }

    /** The number of failure domains of some servers, without the lost ones. */
    long domains(Stream<RemoteServer> servers) {
        return servers.filter(server -> server.lost() == null)
                .map(this::domain)
                .distinct()
                .count();
    }

    /**
     * Takes a region for a slab, or returns null if no server of a free domain has room.
     *
     * @param unheard receives each server that does not answer, for which this has waited
     */
    @Nullable
    RemoteRegion take(
            List<RemoteServer> servers,
            Set<String> taken,
            Predicate<RemoteServer> avoided,
            ToIntFunction<RemoteServer> load,
            Consumer<RemoteServer> unheard) {
        List<RemoteServer> order = new ArrayList<>(servers);
        order.removeIf(server -> server.lost() != null || taken.contains(domain(server)) || avoided.test(server));
        order.sort(Comparator.comparingInt(load).thenComparingInt(RemoteServer::index));
        for (RemoteServer server : order) {
            try {
                return server.allocate(1).getFirst();
            } catch (ControlException e) {
                // It is full, or does not answer: the next.
                if (e.code() == Code.UNAVAILABLE || e.code() == Code.DEADLINE_EXCEEDED) {
                    unheard.accept(server);
                }
            }
        }
        return null;
    }

    /**
     * Takes regions for all slabs of new ranges, range by range.
     *
     * @param first number of the first new range
     * @param load the slabs that a server had before
     * @throws IllegalArgumentException if too few domains have room. Nothing is taken then
     */
    public List<Slab> takeAll(
            List<RemoteServer> servers,
            Resilience resilience,
            int first,
            int ranges,
            Predicate<RemoteServer> avoided,
            ToIntFunction<RemoteServer> load) {
        List<Slab> slabs = new ArrayList<>();
        // Each slab's choice compares all servers, so their slabs are counted once.
        Map<RemoteServer, Integer> loads = new HashMap<>();
        servers.forEach(server -> loads.put(server, load.applyAsInt(server)));
        Set<RemoteServer> silent = new HashSet<>();
        try {
            for (int range = 0; range < ranges; range++) {
                Set<String> taken = new HashSet<>();
                for (int split = 0; split < resilience.splits(); split++) {
                    RemoteRegion region = take(
                            servers,
                            taken,
                            server -> silent.contains(server) || avoided.test(server),
                            server -> loads.getOrDefault(server, 0),
                            silent::add);
                    if (region == null) {
                        throw tooFew(servers, resilience, range, ranges, taken);
                    }
                    slabs.add(new Slab(region, first + range, split, 0, Slab.GOOD));
                    loads.merge(region.server(), 1, Integer::sum);
                    // This calls the user's function, which may throw: the slab is already in the list of those to give
                    // back.
                    taken.add(domain(region.server()));
                }
            }
            return slabs;
        } catch (Throwable e) {
            slabs.forEach(slab -> slab.region().server().releaseQuietly(slab.region()));
            throw e;
        }
    }

    private IllegalArgumentException tooFew(
            List<RemoteServer> servers, Resilience resilience, int range, int ranges, Set<String> taken) {
        long domainCount = domains(servers.stream());
        return new IllegalArgumentException(
                "k + r = " + resilience.splits() + " slabs need as many failure domains with room, and there are "
                        + (range == 0 ? taken.size() : taken.size() + " for range " + (range + 1) + " of " + ranges)
                        + " (domains: " + domainCount + ", servers: " + servers.size()
                        + "); add servers of other domains, or take a smaller k + r or capacity");
    }
}
