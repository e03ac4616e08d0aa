package io.farheap.manager.service;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Which servers a cache gets (Redy, section 6.1). No I/O, no clock: a service and a simulator get the same answers from
 * the same offers. All regions of a cache are of one size.
 */
public final class Allocator {

    private Allocator() {}

    /**
     * What a server has to give.
     *
     * @param free regions
     */
    public record Offer(long serverId, long regionBytes, int free) {}

    /**
     * Servers for a cache: how many regions each gives.
     *
     * @param regionBytes of each of them
     */
    public record Placement(long regionBytes, SortedMap<Long, Integer> regions) {

        long spareBytes(long capacity) {
            return regionBytes
                            * regions.values().stream()
                                    .mapToLong(Integer::longValue)
                                    .sum()
                    - capacity;
        }
    }

    /** There is no room. */
    public static final class NoRoomException extends Exception {

        private static final long serialVersionUID = 1;

        private final long most;

        NoRoomException(long most) {
            super("the most that servers of one region size have free is " + most + " bytes");
            this.most = most;
        }

        /** Bytes that a cache could have instead, 0 for none. */
        public long most() {
            return most;
        }
    }

    /**
     * Servers for a new cache: as few as possible, of the region size that wastes least, and of single servers the one
     * that is then fullest, so that large rooms stay for large caches.
     *
     * @param capacity bytes, at least 1
     */
    public static Placement place(List<Offer> offers, long capacity) throws NoRoomException {
        Map<Long, List<Offer>> bySize = offers.stream().collect(Collectors.groupingBy(Offer::regionBytes));
        List<Placement> found = new ArrayList<>();
        long most = 0;
        for (Map.Entry<Long, List<Offer>> size : bySize.entrySet()) {
            long wanted = (capacity - 1) / size.getKey() + 1;
            long free = size.getValue().stream().mapToLong(Offer::free).sum();
            most = Math.max(most, bytes(free, size.getKey()));
            if (free >= wanted && wanted <= Integer.MAX_VALUE) {
                found.add(new Placement(size.getKey(), spread(size.getValue(), (int) wanted)));
            }
        }
        if (found.isEmpty()) {
            throw new NoRoomException(most);
        }
        return Collections.min(
                found,
                Comparator.<Placement>comparingInt(one -> one.regions().size())
                        .thenComparingLong(one -> one.spareBytes(capacity))
                        .thenComparingLong(Placement::regionBytes));
    }

    /**
     * Servers for regions of a cache that is there.
     *
     * @param regions at least 1
     */
    public static SortedMap<Long, Integer> move(List<Offer> offers, long regionBytes, int regions)
            throws NoRoomException {
        List<Offer> fitting = offers.stream()
                .filter(offer -> offer.regionBytes() == regionBytes)
                .toList();
        long free = fitting.stream().mapToLong(Offer::free).sum();
        if (free < regions) {
            throw new NoRoomException(bytes(free, regionBytes));
        }
        return spread(fitting, regions);
    }

    private static long bytes(long regions, long regionBytes) {
        return regions > Long.MAX_VALUE / regionBytes ? Long.MAX_VALUE : regions * regionBytes;
    }

    /** There is room. The order of offers does not matter. */
    private static SortedMap<Long, Integer> spread(List<Offer> offers, int regions) {
        List<Offer> roomiest = new ArrayList<>(offers);
        roomiest.sort(
                Comparator.comparingInt(Offer::free).reversed().thenComparing(Offer::serverId, Long::compareUnsigned));
        SortedMap<Long, Integer> placed = new TreeMap<>();
        int missing = regions;
        int next = 0;
        while (missing > 0) {
            // The roomiest as long as none has room for all that is missing, then the tightest that has.
            Offer offer = roomiest.get(next);
            if (offer.free() >= missing) {
                while (next + 1 < roomiest.size() && roomiest.get(next + 1).free() >= missing) {
                    offer = roomiest.get(++next);
                }
            }
            int taken = Math.min(missing, offer.free());
            placed.put(offer.serverId(), taken);
            missing -= taken;
            next++;
        }
        return placed;
    }
}
