package io.farheap.bench.ycsb;

import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.allocation.Offer;
import io.farheap.manager.allocation.Prices;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The price of a TiB for an hour by a manager's menu: local memory as a part of the client's machine, far memory on the
 * cheapest machine that is let, spot machines included. Disks are on no menu: here they cost nothing.
 */
record MemoryPrices(String localType, double local, String farType, double far) {

    private static final long TIB = 1L << 40;
    /** Lifetime of a cache, for which the moves of spot machines are counted. */
    private static final double HOURS = 1;

    /** @param client the type of the client's machine; null for the dearest on the menu */
    static MemoryPrices of(Menu menu, @Nullable String client) {
        if (menu.types().isEmpty()) {
            throw new IllegalArgumentException("the menu has no types; it needs one at least");
        }
        Prices prices = new Prices(menu);
        List<String> names =
                menu.types().values().stream().map(MachineType::name).sorted().toList();
        if (client != null && !names.contains(client)) {
            throw new IllegalArgumentException("--client-type " + client + ": the menu has " + names);
        }
        String local = client != null
                ? client
                : names.stream()
                        .max(Comparator.comparingDouble(name -> hourly(prices, name, false)))
                        .orElseThrow();
        Offer.Kind far = menu.types().values().stream()
                .flatMap(type -> type.spotPrice() < 0
                        ? Stream.of(kind(type.name(), false))
                        : Stream.of(kind(type.name(), false), kind(type.name(), true)))
                .min(Comparator.comparingDouble((Offer.Kind kind) -> prices.hourly(kind, 1, HOURS, 0))
                        .thenComparing(Offer.Kind::type))
                .orElseThrow();
        return new MemoryPrices(
                local,
                hourly(prices, local, false),
                far.type() + (far.spot() ? ", spot" : ""),
                prices.hourly(far, 1, HOURS, 0));
    }

    private static double hourly(Prices prices, String type, boolean spot) {
        return prices.hourly(kind(type, spot), 1, HOURS, 0);
    }

    private static Offer.Kind kind(String type, boolean spot) {
        return new Offer.Kind(type, spot, TIB);
    }

    /**
     * Returns the price for an hour and each TiB of the log. If far memory is used at all it has room for all of the
     * log.
     */
    double withoutIndex(Contestant.Facts facts) {
        return facts.localShare() * local + (facts.farShare() > 0 ? far : 0);
    }

    /** Returns the same with the index, which is in local memory. */
    double withIndex(Contestant.Facts facts, long logBytes) {
        return withoutIndex(facts) + (double) facts.indexBytes() / logBytes * local;
    }
}
