package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers that have something to give, found by place, by kind and by the number of free regions. A change of one
 * server takes as long as a few searches in trees, however many servers there are. Not thread-safe.
 */
public final class Stock {

    /** A total order, whatever the kinds are: the choice of servers must not depend on the order of a hash map. */
    static final Comparator<Offer> BY_ROOM = Comparator.comparingInt(Offer::free)
            .thenComparing(
                    Comparator.comparing(Offer::serverId, Long::compareUnsigned).reversed());
    /** An id before all others: finds the first of the servers with equally much room. */
    static final long FIRST_ID = -1;

    private static final String EVERYWHERE = NetworkLocation.UNKNOWN.within(NetworkLocation.FARTHEST);
    /** The part of the network under which servers of unknown place are listed. */
    private static final String UNPLACED = "?";

    private final Map<Long, Offer> offers = new HashMap<>();
    /**
     * By part of the network: each server is listed under its rack, its cluster, its data center and the whole network.
     */
    private final Map<String, Map<Kind, NavigableSet<Offer>>> parts = new HashMap<>();

    /** Replaces the server's earlier offer. */
    public void put(Offer offer) {
        Offer before = offers.put(offer.serverId(), offer);
        if (offer.equals(before)) {
            return;
        }
        if (before != null) {
            unlist(before);
        }
        if (offer.free() > 0) {
            for (String part : parts(offer.place())) {
                parts.computeIfAbsent(part, _ -> new HashMap<>())
                        .computeIfAbsent(offer.kind(), _ -> new TreeSet<>(BY_ROOM))
                        .add(offer);
            }
        }
    }

    public void remove(long serverId) {
        Offer before = offers.remove(serverId);
        if (before != null) {
            unlist(before);
        }
    }

    /** Returns a server's offer; null if it is not in the stock. */
    @Nullable
    public Offer find(long serverId) {
        return offers.get(serverId);
    }

    private void unlist(Offer offer) {
        if (offer.free() == 0) {
            return;
        }
        for (String part : parts(offer.place())) {
            Map<Kind, NavigableSet<Offer>> kinds = Objects.requireNonNull(parts.get(part));
            NavigableSet<Offer> same = Objects.requireNonNull(kinds.get(offer.kind()));
            same.remove(offer);
            if (same.isEmpty()) {
                kinds.remove(offer.kind());
            }
            if (kinds.isEmpty()) {
                parts.remove(part);
            }
        }
    }

    private static List<String> parts(NetworkLocation place) {
        if (place.dataCenter().isEmpty()) {
            return List.of(EVERYWHERE, UNPLACED);
        }
        return Stream.of(
                        EVERYWHERE,
                        place.within(NetworkLocation.FARTHEST),
                        place.within(NetworkLocation.CLUSTER),
                        place.within(NetworkLocation.RACK))
                .filter(part -> !part.equals(NetworkLocation.NOWHERE))
                .toList();
    }

    /** Returns the servers at most {@code switches} from a place, by kind and in the order of their free regions. */
    Map<Kind, NavigableSet<Offer>> within(NetworkLocation place, int switches) {
        Map<Kind, NavigableSet<Offer>> placed = parts.getOrDefault(place.within(switches), Map.of());
        Map<Kind, NavigableSet<Offer>> unplaced = parts.getOrDefault(UNPLACED, Map.of());
        if (switches < NetworkLocation.FARTHEST || place.dataCenter().isEmpty() || unplaced.isEmpty()) {
            return placed;
        }
        Map<Kind, NavigableSet<Offer>> both = new HashMap<>(placed);
        unplaced.forEach((kind, more) -> both.merge(kind, more, (some, others) -> {
            NavigableSet<Offer> all = new TreeSet<>(some);
            all.addAll(others);
            return all;
        }));
        return both;
    }
}
