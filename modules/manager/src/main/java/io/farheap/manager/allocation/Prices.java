package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What memory costs: the price of the part of a machine that a cache takes and, on spot machines, of the moves and
 * losses that are to be expected until the cache ends. Not thread-safe.
 */
public final class Prices {

    private static final double GIB = 1 << 30;
    private static final double UNKNOWN_LIFE_HOURS = 1;

    private volatile Menu menu;
    /** Price of a GiB for an hour of types that are not on the menu: that of the dearest type on it. */
    private double dearest;

    private final Map<String, SurvivalEstimator> lives = new TreeMap<>();

    public Prices(Menu menu) {
        this.menu = menu;
        change(menu);
    }

    /** Replaces the menu. What was observed of machines' lives stays. */
    public void change(Menu changed) {
        menu = changed;
        dearest = changed.types().values().stream()
                .mapToDouble(type -> type.price() * GIB / type.memoryBytes())
                .max()
                .orElse(0);
        lives.forEach((type, life) -> life.given(givenLife(type)));
    }

    private double givenLife(String type) {
        MachineType known = menu.find(type);
        return known == null ? UNKNOWN_LIFE_HOURS : known.lifeHours();
    }

    /** Any thread may call it. */
    public Menu menu() {
        return menu;
    }

    /** Whether machines of a kind are known to have memory only, and no cores. */
    boolean hasNoCores(Kind kind) {
        MachineType type = menu.find(kind.type());
        return type != null && type.cores() == 0;
    }

    /** How long spot machines of a type live. A caller that has seen a machine end adds its life here. */
    public SurvivalEstimator life(String type) {
        return lives.computeIfAbsent(type, _ -> new SurvivalEstimator(givenLife(type)));
    }

    /** Returns the types of spot machines whose lives were asked for or observed. */
    public Set<String> lifeTypes() {
        return Set.copyOf(lives.keySet());
    }

    /** Forgets what was observed of machines' lives. */
    public void forgetLives() {
        lives.clear();
    }

    /**
     * Returns the price of some regions for an hour, on machines of one kind.
     *
     * @param hours that the cache lives
     * @param threads server threads for one region
     */
    public double hourly(Kind kind, int regions, double hours, double threads) {
        return regions * hourly(kind, hours, threads);
    }

    /**
     * Returns the price of one region for an hour.
     *
     * @param hours that the cache lives
     * @param threads server threads for this region
     */
    double hourly(Kind kind, double hours, double threads) {
        MachineType type = menu.find(kind.type());
        return rent(type, kind, threads) + risk(kind, hours);
    }

    /** Returns the expected cost of moves and losses, for one region and an hour. */
    public double risk(Kind kind, double hours) {
        if (!kind.spot() || menu.find(kind.type()) == null) {
            return 0;
        }
        double gib = kind.regionBytes() / GIB;
        return gib * reclaimsAnHour(kind.type(), hours) * (menu.movePrice() + menu.lossPerReclaim() * menu.lossPrice());
    }

    private double rent(@Nullable MachineType type, Kind kind, double threads) {
        if (type == null) {
            return dearest * kind.regionBytes() / GIB;
        }
        double price = kind.spot() && type.spotPrice() >= 0 ? type.spotPrice() : type.price();
        return price * type.part((double) kind.regionBytes(), threads);
    }

    /** Each reclaimed machine is replaced by another, so there is one reclaim for each life. */
    private double reclaimsAnHour(String type, double hours) {
        SurvivalEstimator life = life(type);
        double within = 1 - life.beyond(hours);
        return Math.max(within / hours, 1 / life.mean() - 1 / hours);
    }
}
