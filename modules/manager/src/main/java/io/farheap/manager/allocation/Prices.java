package io.farheap.manager.allocation;

import io.farheap.manager.allocation.Offer.Kind;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What memory costs: the price of the part of a machine that a cache takes and, on spot machines, of the moves and the
 * losses to expect until the cache ends. Not thread-safe.
 */
public final class Prices {

    private static final double GIB = 1 << 30;
    private static final double UNKNOWN_LIFE_HOURS = 1;

    private volatile Menu menu;
    /** Of a GiB for an hour, of types that are not on the menu: as the dearest that is. */
    private double dearest;

    private final Map<String, SurvivalEstimator> lives = new TreeMap<>();

    public Prices(Menu menu) {
        this.menu = menu;
        change(menu);
    }

    /** Another menu from now on; what was seen of machines' lives stays. */
    public void change(Menu changed) {
        menu = changed;
        dearest = changed.types().values().stream()
                .mapToDouble(type -> type.price() * GIB / type.memoryBytes())
                .max()
                .orElse(0);
    }

    /** Any thread. */
    public Menu menu() {
        return menu;
    }

    /** Whether machines of a kind are known to have memory alone. */
    boolean hasNoCores(Kind kind) {
        MachineType type = menu.find(kind.type());
        return type != null && type.cores() == 0;
    }

    /** How long spot machines of a type live: who has seen one end adds that. */
    public SurvivalEstimator life(String type) {
        return lives.computeIfAbsent(type, _ -> {
            MachineType known = menu.find(type);
            return new SurvivalEstimator(known == null ? UNKNOWN_LIFE_HOURS : known.lifeHours());
        });
    }

    /** Forgets what was seen of machines' lives. */
    public void forgetLives() {
        lives.clear();
    }

    /**
     * What a cache pays for an hour of some regions, on a machine of a kind that it has already.
     *
     * @param threads of the server for one region
     */
    public double hourly(Kind kind, int regions, double hours, double threads) {
        return regions * hourly(kind, hours, threads);
    }

    /**
     * Of one region for an hour.
     *
     * @param hours that the cache lives
     * @param threads of the server for this region
     */
    double hourly(Kind kind, double hours, double threads) {
        MachineType type = menu.find(kind.type());
        return rent(type, kind, threads) + risk(kind, hours);
    }

    /** What is to be expected of moves and losses, for one region and an hour. */
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

    /** Each reclaim is followed by another machine, so there is one for each life. */
    private double reclaimsAnHour(String type, double hours) {
        SurvivalEstimator life = life(type);
        double within = 1 - life.beyond(hours);
        return Math.max(within / hours, 1 / life.mean() - 1 / hours);
    }
}
