package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;

/**
 * Chooses how an existing cache gets more room, or another objective (Redy, sections 3.2 and 6.2). The cache stays on
 * its servers if they can serve it, gets further room on those first, and then on other servers with as many cores for
 * each byte. It leaves servers that cannot serve it, and servers from which a move to cheaper ones pays for itself in
 * the time that is left.
 *
 * <p>Not thread-safe: no other thread may change the stock during a call.
 */
public final class Reallocator {

    /** At most this many servers, the dearest ones, are tried as servers to leave. */
    private static final int MOST_LEFT = 20;

    private static final double GIB = 1 << 30;
    /** Allowed rounding error of sums of parts of threads. */
    private static final double ROUNDING = 1e-9;

    private final Stock stock;
    private final Prices prices;
    private final Allocator allocator;

    public Reallocator(Stock stock, Prices prices) {
        this.stock = stock;
        this.prices = prices;
        this.allocator = new Allocator(stock, prices);
    }

    /**
     * Finds the cheapest way of which the moves pay. It takes nothing from the stock. The cache does not leave servers
     * that are missing from the stock because they are leaving or silent: that is not decided by a request of the
     * cache's client.
     *
     * @param need with the configurations of which one is enough; its capacity is the one that their threads are for
     * @param missing how many new regions the cache needs, 0 or more
     * @param saving whether the cache may leave servers because others cost less
     * @throws NoRoomException with the bytes that are there for the new regions and those that cannot stay
     */
    public Reallocation find(Need need, Holding held, int missing, boolean saving) throws NoRoomException {
        List<ConfigurationTrial> ways = need.candidates().stream()
                .map(one -> new ConfigurationTrial(need, one, held))
                .toList();
        List<Option> bases = new ArrayList<>();
        NoRoomException refused = null;
        for (ConfigurationTrial way : ways) {
            try {
                bases.add(way.leaving(way.unfit, missing));
            } catch (NoRoomException e) {
                refused = refused == null || e.most() > refused.most() ? e : refused;
            }
        }
        Option base = bases.stream()
                .min(Comparator.comparing((Option option) -> option.moved > 0).thenComparing(Option.ORDER))
                .orElse(null);
        if (base == null) {
            throw refused == null ? new NoRoomException(0) : refused;
        }
        Option best = base;
        for (Option other : saving ? others(ways, bases, missing) : List.<Option>of()) {
            double move = (other.moved - base.moved)
                    * (held.regionBytes() / GIB)
                    * prices.menu().movePrice();
            if (MoveSaving.pays(base.cost(), other.cost(), need.hours(), move)
                    && Option.ORDER.compare(other, best) < 0) {
                best = other;
            }
        }
        return best.found;
    }

    private static List<Option> others(List<ConfigurationTrial> ways, List<Option> bases, int missing) {
        List<Option> others = new ArrayList<>(bases);
        for (ConfigurationTrial way : ways) {
            Set<Long> left = new TreeSet<>(way.unfit);
            for (long server : way.dearestFirst().stream().limit(MOST_LEFT).toList()) {
                left.add(server);
                try {
                    others.add(way.leaving(left, missing));
                } catch (NoRoomException e) {
                    // If there is no room to leave these servers, there is none to leave more of them.
                    break;
                }
            }
        }
        return others;
    }

    /** Returns how many regions are new or cannot stay with a configuration. */
    public int wanted(Need need, AllocationCandidate candidate, Holding held, int missing) {
        ConfigurationTrial way = new ConfigurationTrial(need, candidate, held);
        return missing + way.regionsOf(way.unfit);
    }

    /** Returns where some of the regions that are new or cannot stay have room with a configuration, by server. */
    public SortedMap<Long, Integer> part(Need need, AllocationCandidate candidate, Holding held, int missing) {
        ConfigurationTrial way = new ConfigurationTrial(need, candidate, held);
        int wanted = missing + way.regionsOf(way.unfit);
        return allocator.part(way.need.avoiding(way.avoided(way.unfit)), candidate, held.regionBytes(), wanted);
    }

    /** @param moved how many regions move */
    private record Option(Reallocation found, int moved) {

        private static final Comparator<Option> ORDER =
                Comparator.comparingDouble(Option::cost).thenComparingInt(Option::moved);

        double cost() {
            return found.cost();
        }
    }

    /** A trial of one configuration. */
    private final class ConfigurationTrial {

        private final Need need;
        private final AllocationCandidate candidate;
        private final Holding held;
        /** Server threads for one region. */
        private final double threads;
        /** Servers that cannot serve it. */
        private final Set<Long> unfit = new TreeSet<>();

        ConfigurationTrial(Need need, AllocationCandidate candidate, Holding held) {
            this.need = need.with(candidate);
            this.candidate = candidate;
            this.held = held;
            this.threads = (double) candidate.serverThreads() / need.regions(held.regionBytes());
            held.regions().forEach((server, regions) -> {
                Offer offer = stock.find(server);
                if (offer != null && !serves(offer, regions)) {
                    unfit.add(server);
                }
            });
        }

        private boolean serves(Offer offer, int regions) {
            // Regions that the application has put farther away stay there unless it now asks for a smaller distance.
            if (candidate.switches() < held.switches() && !isNear(offer)) {
                return false;
            }
            double more = regions * (threads - held.threads());
            return more <= ROUNDING || !prices.hasNoCores(offer.kind()) && more <= offer.freeCores() + ROUNDING;
        }

        private boolean isNear(Offer offer) {
            return need.place().reaches(offer.place(), candidate.switches());
        }

        int regionsOf(Set<Long> servers) {
            return servers.stream()
                    .mapToInt(server -> held.regions().getOrDefault(server, 0))
                    .sum();
        }

        /** Servers that the cache could leave although it could stay on them, the dearest first. */
        private List<Long> dearestFirst() {
            return held.regions().keySet().stream()
                    .filter(server -> !unfit.contains(server) && stock.find(server) != null)
                    .sorted(Comparator.comparingDouble(this::price).reversed())
                    .toList();
        }

        /** Price of one region for an hour. */
        private double price(long server) {
            Offer offer = stock.find(server);
            if (offer == null) {
                // The cache stays on this server in any case, so its price makes no difference.
                return 0;
            }
            boolean unsure = offer.kind().spot() && need.hours() == Double.POSITIVE_INFINITY;
            return unsure ? Double.POSITIVE_INFINITY : prices.hourly(offer.kind(), need.hours(), threads);
        }

        private List<Long> staying(Set<Long> left) {
            List<Long> staying = new ArrayList<>(held.regions().keySet());
            staying.removeAll(left);
            return staying;
        }

        /** Returns the servers on which it gets no further regions if it leaves some. */
        Set<Long> avoided(Set<Long> left) {
            Set<Long> avoided = new HashSet<>(need.avoidServers());
            avoided.addAll(left);
            if (threads > held.threads()) {
                // The regions that stay on these servers will take the cores that the stock counts as free.
                avoided.addAll(staying(left).stream().filter(this::hasFewCores).toList());
            }
            return avoided;
        }

        Option leaving(Set<Long> left, int missing) throws NoRoomException {
            double cost = 0;
            for (Map.Entry<Long, Integer> share : held.regions().entrySet()) {
                cost += left.contains(share.getKey()) ? 0 : share.getValue() * price(share.getKey());
            }
            int moved = regionsOf(left);
            List<Long> first = staying(left).stream().filter(this::isNear).toList();
            CachePlacement more =
                    allocator.more(need.avoiding(avoided(left)), held.regionBytes(), missing + moved, first);
            return new Option(new Reallocation(more, left, cost + more.cost()), moved);
        }

        private boolean isNear(long server) {
            Offer offer = stock.find(server);
            return offer != null && isNear(offer);
        }

        private boolean hasFewCores(long server) {
            Offer offer = stock.find(server);
            return offer != null && offer.freeCores() != Double.POSITIVE_INFINITY;
        }
    }
}
