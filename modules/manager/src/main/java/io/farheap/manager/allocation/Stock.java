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
 * The servers that have something to give, found by where they are, what they are and how much is free. A change of one
 * takes as long as a few searches in trees, however many there are. Not thread-safe.
 */
public final class Stock {

    /** A whole order, whatever their kinds: which servers a cache gets is not to depend on the order of a hash map. */
    static final Comparator<Offer> BY_ROOM = Comparator.comparingInt(Offer::free)
            .thenComparing(
                    Comparator.comparing(Offer::serverId, Long::compareUnsigned).reversed());
    /** Of servers with as much room the one that comes first. */
    static final long FIRST_ID = -1;

    private static final String EVERYWHERE = NetworkLocation.UNKNOWN.within(NetworkLocation.FARTHEST);
    /** Servers of which nobody knows where they are. */
    private static final String UNPLACED = "?";

    private final Map<Long, Offer> offers = new HashMap<>();
    /** By part of the network: each server is in its rack's, its cluster's, its data center's and everybody's. */
    private final Map<String, Map<Kind, NavigableSet<Offer>>> parts = new HashMap<>();

    /** Replaces what the server offered before. */
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

    /** The servers at most so many switches from a place, by kind and in the order of what is free. */
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
