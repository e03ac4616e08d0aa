package io.farheap.manager.allocation;

import io.farheap.manager.AllocationCandidate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * How a cache that is there gets more room, or another objective (Redy, sections 3.2 and 6.2). It stays where servers
 * can serve it, gets room on those first, and then on others with as many cores for each byte. It leaves servers that
 * cannot serve it, and those from which a move to what costs less pays for itself in the time that is left.
 *
 * <p>Not thread-safe, and nothing else may change the stock meanwhile.
 */
public final class Reallocator {

    /** So many servers, the dearest, are tried to be left. */
    private static final int MOST_LEFT = 20;

    private static final double GIB = 1 << 30;
    /** Of sums of parts of threads. */
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
     * The cheapest way that pays. Nothing is taken from the stock. Servers that are not in stock, since they leave or
     * are silent, are not left: that is not for the cache's client to decide.
     *
     * @param need with the configurations of which one will do; its capacity is what these have their threads for
     * @param missing regions that are to be new, 0 or more
     * @param saving whether servers may be left because others cost less
     * @throws NoRoomException saying how many bytes there are for what is new or cannot stay
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
                    // Nor is there for more.
                    break;
                }
            }
        }
        return others;
    }

    /** How many regions there is no room for with a configuration, of those that are new or cannot stay. */
    public int lacking(Need need, AllocationCandidate candidate, Holding held, int missing) {
        ConfigurationTrial way = new ConfigurationTrial(need, candidate, held);
        int wanted = missing + way.regionsOf(way.unfit);
        if (wanted == 0) {
            return 0;
        }
        try {
            way.leaving(way.unfit, missing);
            return 0;
        } catch (NoRoomException e) {
            return wanted - (int) (e.most() / held.regionBytes());
        }
    }

    /** @param moved regions */
    private record Option(Reallocation found, int moved) {

        private static final Comparator<Option> ORDER =
                Comparator.comparingDouble(Option::cost).thenComparingInt(Option::moved);

        double cost() {
            return found.cost();
        }
    }

    /** With one configuration. */
    private final class ConfigurationTrial {

        private final Need need;
        private final AllocationCandidate candidate;
        private final Holding held;
        /** For one region. */
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
            // What the application has put too far away stays there as long as it wants the same.
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

        /** Those that it could leave, and could as well stay on. */
        private List<Long> dearestFirst() {
            return held.regions().keySet().stream()
                    .filter(server -> !unfit.contains(server) && stock.find(server) != null)
                    .sorted(Comparator.comparingDouble(this::price).reversed())
                    .toList();
        }

        /** Of one region for an hour. */
        private double price(long server) {
            Offer offer = stock.find(server);
            if (offer == null) {
                // It stays in any case, so that it makes no difference.
                return 0;
            }
            boolean unsure = offer.kind().spot() && need.hours() == Double.POSITIVE_INFINITY;
            return unsure ? Double.POSITIVE_INFINITY : prices.hourly(offer.kind(), need.hours(), threads);
        }

        Option leaving(Set<Long> left, int missing) throws NoRoomException {
            List<Long> staying = new ArrayList<>(held.regions().keySet());
            staying.removeAll(left);
            double cost = 0;
            for (Map.Entry<Long, Integer> share : held.regions().entrySet()) {
                cost += left.contains(share.getKey()) ? 0 : share.getValue() * price(share.getKey());
            }
            Set<Long> avoided = new HashSet<>(need.avoidServers());
            avoided.addAll(left);
            if (threads > held.threads()) {
                // What it has there will take the cores that the stock says are free.
                avoided.addAll(staying.stream().filter(this::hasFewCores).toList());
            }
            int moved = regionsOf(left);
            List<Long> first = staying.stream().filter(this::isNear).toList();
            CachePlacement more = allocator.more(need.avoiding(avoided), held.regionBytes(), missing + moved, first);
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
