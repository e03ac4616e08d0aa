package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import java.util.List;
import java.util.Set;

/**
 * What a cache needs.
 *
 * @param capacity bytes, at least 1
 * @param hours for how long; {@link Double#POSITIVE_INFINITY} for ever, which is served at the full price alone
 * @param place of the client
 * @param candidates the configurations that meet its objective; not empty
 * @param avoidServers which it does not get
 * @param avoidRacks where it gets nothing, since copies of it are there: as {@link NetworkLocation#toString}
 */
public record Need(
        long capacity,
        double hours,
        NetworkLocation place,
        List<AllocationCandidate> candidates,
        Set<Long> avoidServers,
        Set<String> avoidRacks) {

    public Need {
        if (capacity < 1 || !(hours > 0) || candidates.isEmpty()) {
            throw new IllegalArgumentException("a cache of " + capacity + " bytes for " + hours + " hours with "
                    + candidates.size() + " configurations; each is more than 0");
        }
        candidates = List.copyOf(candidates);
        avoidServers = Set.copyOf(avoidServers);
        avoidRacks = Set.copyOf(avoidRacks);
    }

    /** Of a cache without an objective. */
    public static Need of(long capacity) {
        return new Need(
                capacity,
                Double.POSITIVE_INFINITY,
                NetworkLocation.UNKNOWN,
                List.of(AllocationCandidate.ANY),
                Set.of(),
                Set.of());
    }

    /** The same for another time. */
    public Need within(double otherHours) {
        return new Need(capacity, otherHours, place, candidates, avoidServers, avoidRacks);
    }

    Need withCapacity(long bytes) {
        return new Need(bytes, hours, place, candidates, avoidServers, avoidRacks);
    }

    public Need avoiding(Set<Long> servers) {
        return new Need(capacity, hours, place, candidates, servers, avoidRacks);
    }

    public Need apart(Set<String> racks) {
        return new Need(capacity, hours, place, candidates, avoidServers, racks);
    }

    /** The same with one configuration alone. */
    public Need with(AllocationCandidate candidate) {
        return new Need(capacity, hours, place, List.of(candidate), avoidServers, avoidRacks);
    }

    boolean takes(Offer offer) {
        return !avoidServers.contains(offer.serverId())
                && (avoidRacks.isEmpty() || !avoidRacks.contains(offer.place().toString()));
    }

    /** How many of a size it takes. */
    public int regions(long regionBytes) {
        return (int) Math.min(Integer.MAX_VALUE, (capacity - 1) / regionBytes + 1);
    }
}
