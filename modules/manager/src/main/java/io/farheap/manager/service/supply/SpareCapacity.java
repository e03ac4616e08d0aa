package io.farheap.manager.service.supply;

import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.Quote;
import io.farheap.manager.service.caches.Caches;
import io.farheap.manager.service.servers.Servers;
import io.farheap.memory.ByteSize;
import io.farheap.memory.Plurals;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * Keeps room for regions on servers that leave (Redy, section 6.2: provisioning a server may take longer than the
 * notice, so a manager can keep some ready). For each region size the room is that of the largest servers, as many of
 * them as the manager keeps spares: of all servers or, if a provider starts more, of the servers with caches on them.
 * Guarded by the manager's lock.
 */
public final class SpareCapacity {

    private static final System.Logger LOG = System.getLogger(SpareCapacity.class.getName());
    /**
     * Time between two attempts if machines do not start or cannot be had, unless the provider notifies that they can.
     */
    private static final long PAUSE_NANOS = 5_000_000_000L;

    /** So many machines that are late are replaced. */
    private static final int MOST_LATE = 3;

    /** What a server could hold back; the one that should is first. */
    private record SpareRoom(long serverId, int free, boolean spot, boolean used, boolean held)
            implements Comparable<SpareRoom> {

        private static final Comparator<SpareRoom> ORDER = Comparator.comparing(SpareRoom::spot)
                .thenComparing(SpareRoom::used)
                .thenComparing(room -> !room.held())
                .thenComparing(room -> -room.free())
                .thenComparing(SpareRoom::serverId);

        @Override
        public int compareTo(SpareRoom other) {
            return ORDER.compare(this, other);
        }
    }

    private final int count;
    private final Servers servers;
    private final Caches caches;
    private final Fleet fleet;
    private final MachineSelector shopping;
    private boolean stale;
    /** By region size: regions that could not be had when they were last asked for. */
    private Map<Long, Integer> lacking = Map.of();

    private long askedAt;
    /** Whether the log has said that there is not enough. */
    private boolean said;

    public SpareCapacity(int count, Servers servers, Caches caches, Fleet fleet, MachineSelector shopping) {
        this.count = count;
        this.servers = servers;
        this.caches = caches;
        this.fleet = fleet;
        this.shopping = shopping;
    }

    /** A server is new, or has changed. */
    public void changed() {
        stale = true;
    }

    /** Called before room is given away: room of a new server may have to be held back. */
    public void refresh(long now) {
        if (stale) {
            keep(now);
        }
    }

    /** Chooses what is held back, and starts servers if that is not enough. */
    public void keep(long now) {
        stale = false;
        if (count == 0) {
            return;
        }
        List<Servers.KnownServer> there = servers.all()
                .filter(server -> server.report != null && !servers.isSilent(server, now))
                .toList();
        Map<Long, Integer> wanted = wanted(there);
        Map<Long, Integer> held = new HashMap<>();
        Map<Long, Integer> missing = new TreeMap<>();
        wanted.forEach((size, regions) -> {
            int left = hold(there, size, regions, held);
            if (left > 0) {
                missing.put(size, left);
            }
        });
        servers.holdBack(held);
        start(missing, now);
    }

    /** Returns how many regions of each size should be spare. */
    private Map<Long, Integer> wanted(List<Servers.KnownServer> there) {
        Map<Long, PriorityQueue<Integer>> largest = new TreeMap<>();
        for (Servers.KnownServer server : there) {
            if (!fleet.canStart() || !server.caches().isEmpty()) {
                PriorityQueue<Integer> same =
                        largest.computeIfAbsent(server.record.regionBytes(), _ -> new PriorityQueue<>());
                same.add(servers.usable(Objects.requireNonNull(server.report)));
                if (same.size() > count) {
                    same.remove();
                }
            }
        }
        Map<Long, Integer> wanted = new TreeMap<>();
        largest.forEach((size, rooms) ->
                wanted.put(size, rooms.stream().mapToInt(Integer::intValue).sum()));
        if (wanted.isEmpty() && fleet.canStart()) {
            // No server has caches yet: the room of as many of the cheapest machines.
            fleet.menu().stream()
                    .filter(lot -> !lot.spot())
                    .min(Comparator.comparingDouble(MachineOffer::price))
                    .ifPresent(lot -> wanted.put(lot.regionBytes(), count * lot.regions()));
        }
        return wanted;
    }

    /** @return how many regions are missing */
    private int hold(List<Servers.KnownServer> there, long regionBytes, int regions, Map<Long, Integer> held) {
        double threads = caches.mostThreads(regionBytes);
        // A few of thousands are taken, so they are not sorted.
        PriorityQueue<SpareRoom> best = new PriorityQueue<>(there.stream()
                .filter(server -> server.record.regionBytes() == regionBytes && !server.record.leaving())
                .map(server -> new SpareRoom(
                        server.record.id(),
                        servers.free(server, threads),
                        server.record.spot(),
                        !server.caches().isEmpty(),
                        servers.heldBack().containsKey(server.record.id())))
                .filter(room -> room.free() > 0)
                .toList());
        int left = regions;
        for (SpareRoom room = best.poll(); room != null && left > 0; room = best.poll()) {
            int part = Math.min(left, room.free());
            held.put(room.serverId(), part);
            left -= part;
        }
        return left;
    }

    private void start(Map<Long, Integer> missing, long now) {
        List<Fleet.StartedMachine> all = fleet.comingSpares();
        // If several are late, others would be, too.
        boolean late =
                all.stream().filter(one -> !shopping.isExpected(one, false)).count() >= MOST_LATE;
        for (Fleet.StartedMachine coming : all) {
            if (late || shopping.isExpected(coming, false)) {
                int room = coming.lot().regions() - coming.claimedRegions();
                missing.computeIfPresent(
                        coming.lot().regionBytes(),
                        (_, regions) -> regions > room ? Integer.valueOf(regions - room) : null);
            }
        }
        if (missing.isEmpty()) {
            said = false;
            return;
        }
        boolean paused = now - askedAt < PAUSE_NANOS && missing.equals(lacking) && !fleet.marketChanged();
        if (paused || fleet.failedSince(now - PAUSE_NANOS)) {
            return;
        }
        askedAt = now;
        lacking = new HashMap<>();
        missing.forEach((size, regions) -> {
            Quote quote =
                    shopping.forSpares(size, regions, caches.mostThreads(size)).orElse(null);
            if (quote != null) {
                fleet.start(quote, true);
            } else {
                lacking.put(size, regions);
                if (!said) {
                    said = true;
                    LOG.log(
                            System.Logger.Level.WARNING,
                            "of " + count + " spare servers' room "
                                    + Plurals.of(regions, "region") + " of " + ByteSize.text(size)
                                    + (regions == 1 ? " is" : " are")
                                    + " missing, and no server can be started for "
                                    + (regions == 1 ? "it" : "them"));
                }
                fleet.watch(fleet.menu().stream()
                        .filter(lot -> !lot.spot() && lot.regionBytes() == size)
                        .toList());
            }
        });
    }
}
