package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import java.util.List;
import java.util.Set;

/**
 * What a cache needs.
 *
 * @param capacity bytes, at least 1
 * @param hours for how long; {@link Double#POSITIVE_INFINITY} for a cache without an end, which is served at the full
 *     price only
 * @param place where the client is
 * @param candidates the configurations that meet its objective; not empty
 * @param avoidServers servers that it must not get
 * @param avoidRacks racks in which it must not get a server, since copies of it are there; written as
 *     {@link NetworkLocation#toString}
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

    /** The need of a cache without an objective. */
    public static Need of(long capacity) {
        return new Need(
                capacity,
                Double.POSITIVE_INFINITY,
                NetworkLocation.UNKNOWN,
                List.of(AllocationCandidate.ANY),
                Set.of(),
                Set.of());
    }

    /** The same need for another number of hours. */
    public Need within(double otherHours) {
        return new Need(capacity, otherHours, place, candidates, avoidServers, avoidRacks);
    }

    Need withCapacity(long bytes) {
        return new Need(bytes, hours, place, candidates, avoidServers, avoidRacks);
    }

    /** The same need with other servers to avoid. */
    public Need avoiding(Set<Long> servers) {
        return new Need(capacity, hours, place, candidates, servers, avoidRacks);
    }

    /** The same need with other racks to avoid. */
    public Need apart(Set<String> racks) {
        return new Need(capacity, hours, place, candidates, avoidServers, racks);
    }

    /** The same need with one configuration only. */
    public Need with(AllocationCandidate candidate) {
        return new Need(capacity, hours, place, List.of(candidate), avoidServers, avoidRacks);
    }

    boolean takes(Offer offer) {
        return !avoidServers.contains(offer.serverId())
                && (avoidRacks.isEmpty() || !avoidRacks.contains(offer.place().toString()));
    }

    /** Returns how many regions of a size the capacity takes. */
    public int regions(long regionBytes) {
        return (int) Math.min(Integer.MAX_VALUE, (capacity - 1) / regionBytes + 1);
    }
}
