package io.farheap.manager.service.servers;

import io.farheap.manager.allocation.NoRoomException;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.allocation.SurvivalEstimator;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The spot servers that live now: how old they are, which the estimates of lives have to count, and which of them are
 * expected to end soon. Caches leave these ahead of their notice, and none is placed there if others have room. Guarded
 * by the manager's lock.
 */
public final class SpotLives {

    /** A server is expected to end soon if it is likelier than this to end within {@link #SOON_HOURS}. */
    private static final double LIKELY = 0.5;

    private static final double SOON_HOURS = 2 / 60.0;
    /** Ages hardly change within this time, and a look at thousands of servers takes its time. */
    private static final long PAUSE_MILLIS = 1_000;

    private static final long NANOS_PER_MILLI = 1_000_000;
    static final double MILLIS_AN_HOUR = 3_600_000;

    private final Servers servers;
    private final Prices prices;
    private final boolean early;
    private Set<Long> ending = Set.of();
    /** The time of day of the last look. */
    private long lookedAt;

    private boolean stale = true;
    /** The types of which servers lived then. */
    private Set<String> types = Set.of();

    /** @param early whether servers that are expected to end soon are left and avoided */
    public SpotLives(Servers servers, Prices prices, boolean early) {
        this.servers = servers;
        this.prices = prices;
        this.early = early;
    }

    /** The state was reloaded, and with it the estimates: the next look is due at once. */
    public void reloaded() {
        stale = true;
    }

    /** Looks at all servers if that is due. Called in each tick. */
    public void observe(long now, long millis) {
        if (!stale && Math.abs(millis - lookedAt) < PAUSE_MILLIS) {
            return;
        }
        stale = false;
        lookedAt = millis;
        Map<String, List<Servers.KnownServer>> living = new HashMap<>();
        servers.all()
                .filter(server -> server.record.spot()
                        && !server.record.leaving()
                        && (server.report != null || servers.isAwaited(server, now)))
                .forEach(server -> living.computeIfAbsent(server.record.type(), _ -> new ArrayList<>())
                        .add(server));
        Set<String> known = new HashSet<>(types);
        known.addAll(living.keySet());
        for (String type : known) {
            double[] ages = living.getOrDefault(type, List.of()).stream()
                    .mapToDouble(server -> age(server, now, millis))
                    .toArray();
            prices.life(type).living(ages, millis / MILLIS_AN_HOUR);
        }
        types = Set.copyOf(living.keySet());
        Set<Long> soon = new HashSet<>();
        if (early) {
            living.forEach((type, some) -> {
                SurvivalEstimator life = prices.life(type);
                some.stream()
                        .filter(server -> !servers.isSilent(server, now)
                                && life.endsWithin(age(server, now, millis), SOON_HOURS) > LIKELY)
                        .forEach(server -> soon.add(server.record.id()));
            });
        }
        ending = Set.copyOf(soon);
    }

    /**
     * Returns for how many hours a server was seen alive, until its last report; one that has not found this manager
     * yet counts as alive.
     */
    private static double age(Servers.KnownServer server, long now, long millis) {
        long until = server.report == null ? millis : millis - (now - server.reportedAt) / NANOS_PER_MILLI;
        return Math.max(0, until - server.record.sinceMillis()) / MILLIS_AN_HOUR;
    }

    /** Returns the servers that are expected to end soon, by the last look. */
    public Set<Long> ending() {
        return ending;
    }

    /** A search for room that leaves some servers out. */
    public interface RoomSearch<T> {
        T without(Set<Long> left) throws NoRoomException;
    }

    /**
     * Looks for room, first without the servers that are expected to end soon: room there is better than none.
     *
     * @param left servers that the search leaves out in any case
     */
    public <T> T preferLasting(Set<Long> left, RoomSearch<T> search) throws NoRoomException {
        if (!left.containsAll(ending)) {
            Set<Long> more = new HashSet<>(left);
            more.addAll(ending);
            try {
                return search.without(more);
            } catch (NoRoomException e) {
                // Only the servers that are expected to end soon have the room, or none has.
            }
        }
        return search.without(left);
    }
}
