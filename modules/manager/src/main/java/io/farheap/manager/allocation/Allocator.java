package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import io.farheap.manager.allocation.Offer.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the servers of a cache (Redy, section 6.1). For each configuration that meets the objective, on the servers
 * within the distance over which it does, and for each region size, it fills the cheapest kinds of servers first. Of
 * these placements it takes the cheapest; among placements of equal cost it takes the one that uses the fewest servers
 * and wastes least. Among servers of equal cost it uses as few as possible, and if one server is enough, the one that
 * is fullest afterwards, so that large free rooms remain for large caches.
 *
 * <p>Not thread-safe: no other thread may change the stock during a call.
 */
public final class Allocator {

    private final Stock stock;
    private final Prices prices;

    public Allocator(Stock stock, Prices prices) {
        this.stock = stock;
        this.prices = prices;
    }

    /**
     * Chooses servers for a new cache. It takes nothing from the stock: the caller that uses the placement puts the
     * servers' new offers there.
     *
     * @throws NoRoomException with the number of bytes that could be had instead
     */
    public CachePlacement place(Need need) throws NoRoomException {
        CachePlacement best = null;
        long most = 0;
        for (AllocationCandidate candidate : need.candidates()) {
            Map<Long, List<Kind>> sizes = new HashMap<>();
            Map<Kind, NavigableSet<Offer>> there = stock.within(need.place(), candidate.switches());
            there.keySet().stream().filter(kind -> sells(kind, need)).forEach(kind -> sizes.computeIfAbsent(
                            kind.regionBytes(), _ -> new ArrayList<>())
                    .add(kind));
            for (Map.Entry<Long, List<Kind>> size : sizes.entrySet()) {
                Filling filling = new Filling(need, candidate, size.getKey(), need.regions(size.getKey()));
                filling.fill(size.getValue(), there);
                CachePlacement found = filling.placement();
                most = Math.max(most, filling.bytes());
                if (filling.full() && (best == null || ORDER.compare(found, best) < 0)) {
                    best = found;
                }
            }
        }
        if (best == null) {
            throw new NoRoomException(verified(need, most));
        }
        return best;
    }

    /**
     * Returns where some regions of one size have room with one of a cache's configurations.
     *
     * @param regions how many at most
     * @return by server
     */
    public SortedMap<Long, Integer> part(Need need, AllocationCandidate candidate, long regionBytes, int regions) {
        Map<Kind, NavigableSet<Offer>> there = stock.within(need.place(), candidate.switches());
        Filling filling = new Filling(need, candidate, regionBytes, regions);
        filling.fill(
                there.keySet().stream()
                        .filter(kind -> kind.regionBytes() == regionBytes && sells(kind, need))
                        .toList(),
                there);
        return filling.taken;
    }

    /**
     * Returns how much a smaller cache could really have: it needs as many cores, so it does not always fit into all
     * the room that there is.
     */
    private long verified(Need need, long most) {
        if (most == 0) {
            return 0;
        }
        try {
            place(need.withCapacity(most));
            return most;
        } catch (NoRoomException e) {
            return e.most();
        }
    }

    /**
     * Chooses servers for further regions of an existing cache, or for its regions on a server that leaves.
     *
     * @param need with the one configuration that the cache has; its capacity is the one that its server threads were
     *     chosen for
     * @param preferred servers that the cache already uses: if they have room, it gets that room first, in this order
     */
    public CachePlacement more(Need need, long regionBytes, int regions, List<Long> preferred) throws NoRoomException {
        AllocationCandidate candidate = need.candidates().getFirst();
        Map<Kind, NavigableSet<Offer>> there = stock.within(need.place(), candidate.switches());
        Filling filling = new Filling(need, candidate, regionBytes, regions);
        for (long server : preferred) {
            Offer offer = stock.find(server);
            if (offer != null && offer.kind().regionBytes() == regionBytes && need.takes(offer)) {
                filling.take(offer, prices.hourly(offer.kind(), need.hours(), filling.threads));
            }
        }
        filling.fill(
                there.keySet().stream()
                        .filter(kind -> kind.regionBytes() == regionBytes && sells(kind, need))
                        .toList(),
                there);
        if (!filling.full()) {
            throw new NoRoomException(filling.bytes());
        }
        return filling.placement();
    }

    private static final Comparator<CachePlacement> ORDER = Comparator.comparingDouble(CachePlacement::cost)
            .thenComparingInt(one -> one.regions().size())
            .thenComparingLong(CachePlacement::bytes)
            .thenComparingLong(CachePlacement::regionBytes);

    /** A cache without an end pays the full price: it gets no spot servers (Redy, section 3.2). */
    private static boolean sells(Kind kind, Need need) {
        return !kind.spot() || need.hours() < Double.POSITIVE_INFINITY;
    }

    /** The roomiest server of one kind that has not been considered yet, and the servers after it. */
    private record Head(Offer offer, Iterator<Offer> rest) {

        static void next(Iterator<Offer> offers, Queue<Head> queue) {
            if (offers.hasNext()) {
                queue.add(new Head(offers.next(), offers));
            }
        }
    }

    /** A placement for one region size that is being filled. */
    private final class Filling {

        private final Need need;
        private final AllocationCandidate candidate;
        private final long regionBytes;
        private final int total;
        /** Server threads that the cache needs for one region. */
        private final double threads;

        private final SortedMap<Long, Integer> taken = new TreeMap<>(Long::compareUnsigned);
        private int missing;
        private double cost;

        Filling(Need need, AllocationCandidate candidate, long regionBytes, int regions) {
            this.need = need;
            this.candidate = candidate;
            this.regionBytes = regionBytes;
            this.total = need.regions(regionBytes);
            this.threads = (double) candidate.serverThreads() / total;
            this.missing = regions;
        }

        boolean full() {
            return missing == 0;
        }

        long bytes() {
            long regions = taken.values().stream().mapToLong(Integer::longValue).sum();
            return regions > Long.MAX_VALUE / regionBytes ? Long.MAX_VALUE : regions * regionBytes;
        }

        CachePlacement placement() {
            return new CachePlacement(candidate, regionBytes, taken, cost);
        }

        private double price(Kind kind) {
            return prices.hourly(kind, need.hours(), threads);
        }

        void fill(List<Kind> kinds, Map<Kind, NavigableSet<Offer>> there) {
            TreeMap<Double, List<NavigableSet<Offer>>> byPrice = new TreeMap<>();
            for (Kind kind : kinds) {
                if (candidate.serverThreads() > 0 && prices.hasNoCores(kind)) {
                    continue;
                }
                byPrice.computeIfAbsent(price(kind), _ -> new ArrayList<>()).add(there.get(kind));
            }
            for (Map.Entry<Double, List<NavigableSet<Offer>>> same : byPrice.entrySet()) {
                fill(same.getValue(), same.getKey());
                if (full()) {
                    return;
                }
            }
        }

        /**
         * Takes regions from servers of one price: the roomiest server as long as no server has room for all that is
         * missing, then the tightest server that has.
         */
        private void fill(List<NavigableSet<Offer>> servers, double price) {
            PriorityQueue<Head> roomiest =
                    new PriorityQueue<>(Comparator.comparing(Head::offer, Stock.BY_ROOM.reversed()));
            servers.forEach(same -> Head.next(same.descendingIterator(), roomiest));
            // After a search that found no server, none can be found until something else was taken.
            int none = -1;
            for (Head head = roomiest.poll(); head != null && !full(); head = roomiest.poll()) {
                Offer tightest = head.offer.free() >= missing && missing != none ? tightest(servers) : null;
                none = tightest == null && head.offer.free() >= missing ? missing : none;
                take(tightest == null ? head.offer : tightest, price);
                Head.next(head.rest, roomiest);
            }
        }

        private void take(Offer offer, double price) {
            int regions = Math.min(missing, room(offer));
            if (regions > 0) {
                taken.put(offer.serverId(), regions);
                missing -= regions;
                cost += regions * price;
            }
        }

        private @Nullable Offer tightest(List<NavigableSet<Offer>> servers) {
            Offer best = null;
            Offer least =
                    new Offer(Stock.FIRST_ID, servers.getFirst().first().kind(), NetworkLocation.UNKNOWN, missing, 0);
            for (NavigableSet<Offer> same : servers) {
                for (Offer offer : same.tailSet(least, true)) {
                    if (room(offer) >= missing) {
                        best = best == null || Stock.BY_ROOM.compare(offer, best) < 0 ? offer : best;
                        break;
                    }
                }
            }
            return best;
        }

        private int room(Offer offer) {
            return taken.containsKey(offer.serverId()) || !need.takes(offer)
                    ? 0
                    : offer.room(total, candidate.serverThreads());
        }
    }
}
