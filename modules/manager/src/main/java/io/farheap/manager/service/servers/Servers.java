package io.farheap.manager.service.servers;

import io.farheap.control.CacheGrant;
import io.farheap.control.SignedGrant;
import io.farheap.manager.RegionShare;
import io.farheap.manager.ServerReport;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.NetworkLocation;
import io.farheap.manager.allocation.Offer;
import io.farheap.manager.allocation.Prices;
import io.farheap.manager.allocation.Stock;
import io.farheap.manager.service.journal.Inbox;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ServerRecord;
import io.farheap.memory.ByteSize;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.LongToIntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The servers that a manager knows: what they last reported, which of their regions are promised to caches, and so what
 * they have to give. Guarded by the manager's lock.
 */
public final class Servers {

    /** The regions of a cache on a server, reserved ones included, and the server threads that they need. */
    private record Promise(int regions, double threads) {}

    /** A server. */
    public static final class KnownServer {
        public ServerRecord record;
        /** Null until it reports to this manager, and after another server has replaced it at its address. */
        public @Nullable ServerReport report;

        public long reportedAt;
        /** The manager's listening time at which this server last reported. */
        private long heardNanos;
        /** Whether it has reported to this manager, so that {@link #reportedAt} is the time of its last report. */
        boolean wasHeard;
        /** Whether the provider has reported the end of its machine. */
        public boolean ended;

        private final Map<Long, Promise> promised = new HashMap<>();
        /** How many regions it had to give when it was listed last, those that are kept included; 0 if it is not. */
        private int room;
        /** How many cores no cache used then. */
        private double freeCores;

        KnownServer(ServerRecord record) {
            this.record = record;
        }

        /** Returns the caches that have regions or reserved room there. */
        public Collection<Long> caches() {
            return promised.keySet();
        }

        /** Returns how many of its regions are promised to caches. */
        public int promised() {
            return promised.values().stream().mapToInt(Promise::regions).sum();
        }
    }

    /** What sums of parts of threads may differ by, since the order of these parts does. */
    private static final double ROUNDING = 1e-9;
    /**
     * A server's report may be a second older than the record of a move, and a client reports some changes a moment
     * before it makes them.
     */
    private static final long LATE_NANOS = 2_000_000_000L;
    /** For how long after a change of leader a server on disk that has not reported may have to look for the leader. */
    private static final long AWAITED_NANOS = 60_000_000_000L;

    private final Map<Long, KnownServer> servers = new HashMap<>();
    /** Those of {@link #servers} that leave. */
    private final Map<Long, KnownServer> leaving = new HashMap<>();
    /** Those whose last report wants regions back for their machine. */
    private final Map<Long, KnownServer> pressed = new TreeMap<>();
    /** By address: the server that has last reported from there. */
    private final Map<String, Long> reporting = new HashMap<>();
    /** For how long this manager has listened while at least one server reported. */
    private long heardNanos;
    /**
     * Servers that were not silent when {@link #stock(long)} last removed silent ones, in the order of their last
     * reports, the oldest first.
     */
    private final LinkedHashMap<Long, KnownServer> heard = new LinkedHashMap<>(16, 0.75f, true);
    /** All others. */
    private final Map<Long, KnownServer> unheard = new HashMap<>();

    private final Stock stock = new Stock();
    /** With the regions that are held back; the same stock if none ever are. */
    private final Stock whole;
    /**
     * More regions of a cache on a server than are promised to it there.
     *
     * @param has how many the server reports
     * @param promised how many are promised
     * @param since when the report came that was the first to differ in this way
     */
    private record Surplus(int has, int promised, long since) {}

    /** By cache, and by server. */
    private final Map<Long, Map<Long, Surplus>> surplus = new HashMap<>();
    /** By server: the caches in {@link #surplus}. */
    private final Map<Long, Set<Long>> surplusOn = new HashMap<>();
    /** How often {@link #all} was called. */
    private long passes;
    /** Counts the times at which a server had more to give than before. */
    private long growths;

    /** By server: regions that are held back for caches on servers that leave. */
    private Map<Long, Integer> heldBack = Map.of();

    /**
     * Room that is kept for a cache that waits for it.
     *
     * @param found regions that it has found, or that machines were started for
     * @param made regions that it needs if caches that are being ended give theirs; these may be the same
     * @param threads server threads for each region
     * @param firm whether regions on a server that leaves wait for it; other caches' room goes to such regions
     */
    private record KeptRoom(int found, int made, double threads, boolean firm) {

        int regions() {
            return Math.max(found, made);
        }
    }

    private static final KeptRoom NOTHING_KEPT = new KeptRoom(0, 0, 0, false);

    /** Ends a time in which room that is kept for a cache counts as free. */
    public interface ServingTime extends AutoCloseable {
        @Override
        void close();
    }

    /** By server, and by cache that waits for it. */
    private final Map<Long, Map<Long, KeptRoom>> kept = new HashMap<>();
    /** By cache: the servers on which room is kept for it. */
    private final Map<Long, Set<Long>> keptFor = new HashMap<>();
    /** The cache whose kept room counts as free now; null for none. */
    private @Nullable Long served;

    /** Whether all kept room that is not firm counts as free now. */
    private boolean pressing;

    /** Caches whose regions count as free during {@link #without}. */
    private Set<Long> without = Set.of();
    /** The servers that were offered during it. */
    private final Set<KnownServer> offeredWithout = new LinkedHashSet<>();

    private final Prices prices;
    private final MigrationRates rates;
    private final Inbox inbox;
    private final long silentNanos;
    private final long forgetNanos;
    /** When the servers were loaded from disk. */
    private long loadedAt;

    /**
     * @param inbox forgets the expected report of each server that has changed
     * @param silentNanos a server that has not reported for this long gets no more caches
     * @param forgetNanos one that was silent for this long, while other servers reported, is given up
     * @param holdsBack whether {@link #holdBack} will be called
     */
    public Servers(
            Prices prices, MigrationRates rates, Inbox inbox, long silentNanos, long forgetNanos, boolean holdsBack) {
        this.whole = holdsBack ? new Stock() : stock;
        this.prices = prices;
        this.rates = rates;
        this.inbox = inbox;
        this.silentNanos = silentNanos;
        this.forgetNanos = forgetNanos;
    }

    /** Returns all servers; counted, since there may be thousands. */
    public Stream<KnownServer> all() {
        passes++;
        return servers.values().stream();
    }

    /** Returns how often all servers were looked at. */
    public long passes() {
        return passes;
    }

    /** Returns the servers that have reported that they leave, or were asked to. */
    public Stream<KnownServer> leaving() {
        return leaving.values().stream();
    }

    /** Returns the servers that want regions back by their last reports, by number. */
    public List<KnownServer> pressed() {
        return List.copyOf(pressed.values());
    }

    /** Whether a server wants regions back, so that caches get nothing new there. */
    public static boolean isPressed(KnownServer server) {
        return server.report != null && server.report.wantedRegions() > 0;
    }

    /**
     * Returns how many of a server's regions caches were promised and have not taken, by its last report.
     *
     * @param leave returns how many regions of a cache are about to leave the server, and so come back to no cache
     *     there
     */
    public int untaken(KnownServer server, LongToIntFunction leave) {
        ServerReport report = server.report;
        long untaken = 0;
        for (Map.Entry<Long, Promise> cache : server.promised.entrySet()) {
            int expected = cache.getValue().regions() - leave.applyAsInt(cache.getKey());
            int has = report == null ? 0 : report.held().getOrDefault(cache.getKey(), 0);
            untaken += Math.max(0, expected - has);
        }
        return (int) Math.min(untaken, Integer.MAX_VALUE);
    }

    /**
     * Returns how many regions a server is about to get back, by its last report: those that leave it now, those that
     * have left it since that report, and those that are being zeroed.
     *
     * @param leave returns how many regions of a cache are about to leave the server, and are expected to do so soon
     */
    public int returning(KnownServer server, LongToIntFunction leave) {
        ServerReport report = server.report;
        if (report == null) {
            return 0;
        }
        long held = 0;
        long returning = 0;
        for (Map.Entry<Long, Integer> each : report.held().entrySet()) {
            int has = each.getValue();
            held += has;
            Promise promise = server.promised.get(each.getKey());
            int promised = promise == null ? 0 : promise.regions();
            int leaves = leave.applyAsInt(each.getKey());
            if (has <= promised) {
                returning += Math.max(0, has - (promised - leaves));
            } else {
                returning += leaves + (isFresh(each.getKey(), server) ? has - promised : 0);
            }
        }
        long zeroed = report.totalRegions() - report.freeRegions() - report.withdrawnRegions() - held;
        return (int) Math.min(returning + Math.max(0, zeroed), Integer.MAX_VALUE);
    }

    /** Whether a server has just begun to report more regions of a cache than are promised to it there. */
    private boolean isFresh(long cacheId, KnownServer server) {
        Surplus more = surplus.getOrDefault(cacheId, Map.of()).get(server.record.id());
        return more != null && server.reportedAt - more.since() < LATE_NANOS;
    }

    public @Nullable KnownServer find(long id) {
        return servers.get(id);
    }

    /**
     * Divides the regions that a cache has at an address among the servers that are or were there. It considers the
     * servers that the cache was given, and the one that reports a lease of the cache. If a server has replaced another
     * at the address, the regions of the earlier server remain counted there: a cache leaves a server that leaves with
     * the regions that are on that server itself.
     *
     * @return by server; empty if there is no such server
     */
    public Map<Long, Integer> split(CacheRecord cache, RegionShare share) {
        List<KnownServer> at = at(cache, share.address());
        Map<Long, Integer> split = new LinkedHashMap<>();
        if (at.isEmpty()) {
            return split;
        }
        int others = 0;
        for (KnownServer gone : at.subList(1, at.size())) {
            int had = allowed(cache, gone.record.id());
            others = Math.addExact(others, had);
            split.put(gone.record.id(), had);
        }
        KnownServer current = at.getFirst();
        int has = allowed(cache, current.record.id());
        if (current.report != null) {
            has = Math.max(has, current.report.held().getOrDefault(cache.id(), 0));
        }
        // The earlier servers cannot have got any further regions.
        has = Math.max(Math.min(has, share.regions()), share.regions() - others);
        int rest = share.regions() - has;
        for (Map.Entry<Long, Integer> gone : split.entrySet()) {
            int part = Math.min(rest, gone.getValue());
            gone.setValue(part);
            rest -= part;
        }
        split.put(current.record.id(), has);
        split.values().removeIf(regions -> regions == 0);
        return split;
    }

    /** Returns the server that is there now before those that it has replaced. */
    private List<KnownServer> at(CacheRecord cache, String address) {
        List<KnownServer> at = of(cache)
                .filter(one -> one.record.address().equals(address))
                .distinct()
                .sorted(Comparator.comparing((KnownServer one) -> one.report == null)
                        .thenComparing(one -> one.record.sinceMillis(), Comparator.reverseOrder()))
                .collect(Collectors.toCollection(ArrayList::new));
        if (at.isEmpty() || at.getFirst().report == null) {
            servers.values().stream()
                    .filter(one -> one.record.address().equals(address)
                            && one.report != null
                            && one.report.held().containsKey(cache.id()))
                    .findFirst()
                    .ifPresent(at::addFirst);
        }
        return at;
    }

    /**
     * Returns the shares by address, each with the grant to sign for all that the cache may have on its server: if a
     * server has replaced another at the address, on the one that is there now.
     *
     * @param regions the cache's regions, or those that are reserved for it
     */
    public List<RegionShare> shares(CacheRecord cache, SortedMap<Long, Integer> regions) {
        Map<String, RegionShare> shares = new LinkedHashMap<>();
        regions.forEach((id, count) -> {
            String address = address(id);
            RegionShare before = shares.get(address);
            if (before == null) {
                shares.put(address, new RegionShare(address, count, SignedGrant.unsigned(grant(cache, id))));
            } else {
                List<KnownServer> at = at(cache, address);
                long current = at.isEmpty() ? id : at.getFirst().record.id();
                shares.put(
                        address,
                        new RegionShare(
                                address, before.regions() + count, SignedGrant.unsigned(grant(cache, current))));
            }
        });
        return List.copyOf(shares.values());
    }

    /** Returns how many regions a cache may have on a server, the reserved ones included. */
    private static int allowed(CacheRecord cache, long serverId) {
        return cache.regions().getOrDefault(serverId, 0) + cache.reserved().getOrDefault(serverId, 0);
    }

    /**
     * Returns how many regions of a cache may be on a server: those that it was given or that are reserved for it
     * there, or those that the server itself has reported.
     */
    public int most(CacheRecord cache, long serverId) {
        KnownServer server = servers.get(serverId);
        int held = server == null || server.report == null
                ? 0
                : server.report.held().getOrDefault(cache.id(), 0);
        return Math.max(allowed(cache, serverId), held);
    }

    private static CacheGrant grant(CacheRecord cache, long serverId) {
        return new CacheGrant(
                cache.id(),
                serverId,
                allowed(cache, serverId),
                CacheGrant.READ | CacheGrant.WRITE,
                0,
                0,
                cache.generation());
    }

    /**
     * Whether a server that reports has more regions of a cache than are promised to it there, and has said the same
     * for longer than a report can be late.
     */
    public boolean hasUnexpected(long cacheId, long now) {
        return surplus.getOrDefault(cacheId, Map.of()).entrySet().stream().anyMatch(one -> {
            KnownServer server = servers.get(one.getKey());
            return server != null
                    && !isSilent(server, now)
                    && server.reportedAt - one.getValue().since() >= LATE_NANOS;
        });
    }

    /** Returns the servers that have last reported more regions of a cache than are promised to it there. */
    Set<Long> withSurplus(long cacheId) {
        return surplus.getOrDefault(cacheId, Map.of()).keySet();
    }

    private void findSurplus(KnownServer server, ServerReport report, boolean any) {
        long id = server.record.id();
        Set<Long> before = surplusOn.getOrDefault(id, Set.of());
        if (!any && before.isEmpty()) {
            return;
        }
        Set<Long> now = new HashSet<>();
        if (any) {
            report.held().forEach((cache, has) -> {
                Promise promise = server.promised.get(cache);
                int promised = promise == null ? 0 : promise.regions();
                if (has > promised) {
                    now.add(cache);
                    surplus.computeIfAbsent(cache, _ -> new HashMap<>())
                            .compute(
                                    id,
                                    (_, same) -> same != null && same.has() == has && same.promised() == promised
                                            ? same
                                            : new Surplus(has, promised, server.reportedAt));
                }
            });
        }
        before.stream().filter(cache -> !now.contains(cache)).forEach(cache -> dropSurplus(cache, id));
        if (now.isEmpty()) {
            surplusOn.remove(id);
        } else {
            surplusOn.put(id, now);
        }
    }

    private void dropSurplus(long cacheId, long serverId) {
        surplus.computeIfPresent(cacheId, (_, on) -> on.remove(serverId) != null && on.isEmpty() ? null : on);
    }

    /** Returns a server's HOST:PORT, or a text in its place if the server is unknown. */
    public String address(long serverId) {
        KnownServer server = servers.get(serverId);
        return server == null ? "(forgotten)" : server.record.address();
    }

    /** A new server is at its address: servers that were there before are not there any more. */
    void replaces(ServerRecord server) {
        for (KnownServer one : servers.values()) {
            if (one.record.id() != server.id() && one.record.address().equals(server.address())) {
                one.report = null;
                pressed.remove(one.record.id());
                heard.remove(one.record.id());
                unheard.put(one.record.id(), one);
                unlist(one.record.id());
            }
        }
    }

    void put(ServerRecord record) {
        KnownServer known = servers.computeIfAbsent(record.id(), _ -> new KnownServer(record));
        known.record = record;
        if (!heard.containsKey(record.id())) {
            unheard.put(record.id(), known);
        }
        if (record.leaving()) {
            leaving.put(record.id(), known);
        } else {
            leaving.remove(record.id());
        }
        inbox.forget(record.id());
        offer(known);
    }

    /**
     * Keeps exactly the servers that are on disk: one that could not be written is new when it reports again.
     *
     * @param now from when on they look for this manager
     */
    public void load(List<ServerRecord> stored, long now) {
        loadedAt = now;
        Set<Long> ids = stored.stream().map(ServerRecord::id).collect(Collectors.toUnmodifiableSet());
        List.copyOf(servers.keySet()).stream().filter(id -> !ids.contains(id)).forEach(this::remove);
        stored.forEach(this::put);
    }

    void remove(long id) {
        inbox.forget(id);
        KnownServer removed = servers.remove(id);
        leaving.remove(id);
        pressed.remove(id);
        if (removed != null) {
            reporting.remove(removed.record.address(), id);
        }
        heard.remove(id);
        unheard.remove(id);
        Set<Long> more = surplusOn.remove(id);
        if (more != null) {
            more.forEach(cache -> dropSurplus(cache, id));
        }
        unlist(id);
    }

    private void unlist(long id) {
        stock.remove(id);
        whole.remove(id);
        KnownServer server = servers.get(id);
        if (server != null) {
            server.room = 0;
        }
    }

    /** Takes the report of a known server. */
    void report(KnownServer server, ServerReport report, long now) {
        server.report = report;
        server.reportedAt = now;
        server.heardNanos = heardNanos;
        server.wasHeard = true;
        server.ended = false;
        if (report.wantedRegions() > 0) {
            pressed.put(server.record.id(), server);
        } else {
            pressed.remove(server.record.id());
        }
        reporting.put(server.record.address(), server.record.id());
        heard.put(server.record.id(), server);
        unheard.remove(server.record.id());
        offer(server);
    }

    /** A cache has changed: moves its promises from the old record to the new one. */
    public void promise(@Nullable CacheRecord before, @Nullable CacheRecord after) {
        movePromises(before, after).forEach(this::offer);
    }

    /** @return the servers of which the promises have changed, to be offered again */
    private Set<KnownServer> movePromises(@Nullable CacheRecord before, @Nullable CacheRecord after) {
        Set<KnownServer> changed = new LinkedHashSet<>();
        if (before != null) {
            of(before).forEach(server -> {
                if (server.promised.remove(before.id()) != null) {
                    changed.add(server);
                }
            });
        }
        if (after != null) {
            sharesOf(after).forEach(share -> {
                KnownServer server = servers.get(share.getKey());
                if (server != null) {
                    double threads = after.threadsOfRegion() * share.getValue();
                    server.promised.merge(
                            after.id(),
                            new Promise(share.getValue(), threads),
                            (one, other) ->
                                    new Promise(one.regions() + other.regions(), one.threads() + other.threads()));
                    changed.add(server);
                }
            });
        }
        return changed;
    }

    private static Stream<Map.Entry<Long, Integer>> sharesOf(CacheRecord cache) {
        return Stream.concat(cache.regions().entrySet().stream(), cache.reserved().entrySet().stream());
    }

    /** Returns the known servers that have regions of a cache, or room reserved for it. */
    public Stream<KnownServer> of(CacheRecord cache) {
        return sharesOf(cache).map(share -> servers.get(share.getKey())).filter(Objects::nonNull);
    }

    /** Forgets all promises, before the caches are loaded from disk. */
    public void forgetPromises() {
        servers.values().forEach(server -> server.promised.clear());
    }

    private void offer(KnownServer server) {
        ServerReport report = server.report;
        int most = report == null ? 0 : room(server, report);
        int room = isPressed(server) ? 0 : most;
        if (report == null || server.record.leaving() || !heard.containsKey(server.record.id())) {
            unlist(server.record.id());
            return;
        }
        MachineType type = prices.menu().find(report.type());
        double cores = type == null ? Double.POSITIVE_INFINITY : type.cores();
        double free = cores
                - server.promised.values().stream()
                        .mapToDouble(Promise::threads)
                        .sum();
        double kept = keptForOthers(server)
                .mapToDouble(one -> one.regions() * one.threads())
                .sum();
        if (without.isEmpty()) {
            // What is kept for a cache is found by that cache.
            growths += room > server.room || free - server.freeCores > ROUNDING && room > 0 ? 1 : 0;
            server.room = room;
            server.freeCores = free;
        } else {
            offeredWithout.add(server);
        }
        Offer all = new Offer(
                server.record.id(),
                new Offer.Kind(report.type(), report.spot(), report.regionBytes()),
                NetworkLocation.parse(report.place()),
                Math.max(0, room - keptFromThis(server)),
                Math.max(0, free - kept));
        whole.put(all);
        int held = heldBack.getOrDefault(all.serverId(), 0);
        if (held > 0) {
            stock.put(new Offer(
                    all.serverId(), all.kind(), all.place(), Math.max(0, all.free() - held), all.freeCores()));
        } else if (whole != stock) {
            stock.put(all);
        }
    }

    /**
     * Holds room back from all caches but those on servers that leave.
     *
     * @param regions of each server; replaces what was held back before
     */
    public void holdBack(Map<Long, Integer> regions) {
        Set<Long> changed = new HashSet<>(regions.keySet());
        changed.addAll(heldBack.keySet());
        Map<Long, Integer> before = heldBack;
        heldBack = Map.copyOf(regions);
        for (long id : changed) {
            KnownServer server = servers.get(id);
            if (server != null && !before.getOrDefault(id, 0).equals(regions.getOrDefault(id, 0))) {
                growths++;
                offer(server);
            }
        }
    }

    /** Returns the rest of a sentence for a caller that is refused, or an empty text. */
    public String sayHeldBack() {
        long bytes = heldBack.entrySet().stream()
                .mapToLong(held -> {
                    KnownServer server = servers.get(held.getKey());
                    return server == null ? 0 : held.getValue() * server.record.regionBytes();
                })
                .sum();
        return bytes == 0 ? "" : "; " + ByteSize.text(bytes) + " are held back for servers that leave (--spares)";
    }

    /** Returns the regions that are held back, by server. */
    public Map<Long, Integer> heldBack() {
        return heldBack;
    }

    /**
     * Keeps room for a cache that waits for it: other caches do not get it.
     *
     * @param regions replaces what was kept for the cache on that server before
     * @param threads server threads for each of them
     * @param firm whether its regions on a server that leaves wait for it
     */
    public void keep(long serverId, long cacheId, int regions, double threads, boolean firm) {
        KeptRoom before = kept(serverId, cacheId);
        put(serverId, cacheId, new KeptRoom(regions, before.made(), threads, firm));
    }

    private KeptRoom kept(long serverId, long cacheId) {
        return kept.getOrDefault(serverId, Map.of()).getOrDefault(cacheId, NOTHING_KEPT);
    }

    /** Replaces what is kept for a cache on a server. */
    private void put(long serverId, long cacheId, KeptRoom room) {
        int before = kept(serverId, cacheId).regions();
        if (room.regions() > 0) {
            kept.computeIfAbsent(serverId, _ -> new HashMap<>()).put(cacheId, room);
            keptFor.computeIfAbsent(cacheId, _ -> new HashSet<>()).add(serverId);
        } else {
            kept.computeIfPresent(serverId, (_, here) -> here.remove(cacheId) != null && here.isEmpty() ? null : here);
            keptFor.computeIfPresent(cacheId, (_, on) -> on.remove(serverId) && on.isEmpty() ? null : on);
        }
        growths += before > room.regions() ? 1 : 0;
        offerAgain(serverId);
    }

    /**
     * Keeps room that was found for a cache that waits for it, instead of what was found before.
     *
     * @param firm as in {@link #keep}
     */
    public void keepFound(long cacheId, FreeRoom room, boolean firm) {
        keepInstead(
                cacheId, room.regions(), (there, regions) -> new KeptRoom(regions, there.made(), room.threads(), firm));
    }

    /**
     * Keeps room for a cache that waits until caches that are being ended have given theirs, instead of what was kept
     * for that before.
     *
     * @param firm as in {@link #keep}
     */
    public void keepMade(long cacheId, FreeRoom room, boolean firm) {
        keepInstead(
                cacheId,
                room.regions(),
                (there, regions) -> new KeptRoom(there.found(), regions, room.threads(), firm));
    }

    /** A cache waits no longer for room of caches that are being ended; what was found for it stays kept. */
    public void giveUpMade(long cacheId) {
        keepInstead(cacheId, Map.of(), (room, _) -> new KeptRoom(room.found(), 0, room.threads(), room.firm()));
    }

    /** A cache has no use for what was found for it; what caches that are being ended give it stays kept. */
    public void giveUpFound(long cacheId) {
        keepInstead(cacheId, Map.of(), (room, _) -> new KeptRoom(0, room.made(), room.threads(), room.firm()));
    }

    private void keepInstead(long cacheId, Map<Long, Integer> regions, BiFunction<KeptRoom, Integer, KeptRoom> change) {
        Set<Long> on = new HashSet<>(keptFor.getOrDefault(cacheId, Set.of()));
        on.addAll(regions.keySet());
        on.forEach(id -> put(id, cacheId, change.apply(kept(id, cacheId), regions.getOrDefault(id, 0))));
    }

    /** A cache has its room, or does not wait for it any more. */
    public void giveUpKept(long cacheId) {
        keepInstead(cacheId, Map.of(), (_, _) -> NOTHING_KEPT);
    }

    /**
     * A cache has got room, which may be a part of what is kept for it: the rest remains kept, on servers that stay.
     *
     * @param regions that it has got, by server
     * @param most how many regions it needs then; what was found is kept before what ended caches may give
     */
    public void takeKept(long cacheId, Map<Long, Integer> regions, int most) {
        keepInstead(
                cacheId,
                regions,
                (room, got) -> new KeptRoom(
                        Math.max(0, room.found() - got), Math.max(0, room.made() - got), room.threads(), room.firm()));
        List<Long> on = kept(cacheId).keySet().stream()
                .sorted(Comparator.comparing((Long id) -> kept(id, cacheId).found() == 0)
                        .thenComparing(Comparator.naturalOrder()))
                .toList();
        int left = most;
        for (long id : on) {
            KeptRoom room = kept(id, cacheId);
            int part = isListed(servers.get(id)) ? Math.min(left, room.regions()) : 0;
            put(
                    id,
                    cacheId,
                    new KeptRoom(
                            Math.min(part, room.found()), Math.min(part, room.made()), room.threads(), room.firm()));
            left -= part;
        }
    }

    /** Returns how many regions are kept for a cache, by server. */
    public Map<Long, Integer> kept(long cacheId) {
        Map<Long, Integer> regions = new HashMap<>();
        for (long serverId : keptFor.getOrDefault(cacheId, Set.of())) {
            regions.put(serverId, kept(serverId, cacheId).regions());
        }
        return regions;
    }

    private boolean isListed(@Nullable KnownServer server) {
        return server != null && !server.ended && whole.find(server.record.id()) != null;
    }

    /**
     * Returns how many of the regions that are kept for a cache on a server that leaves the servers have to give it: it
     * gets what is kept for others, too, unless that is firm.
     *
     * @param threads server threads that each of them needs
     */
    public int keptAndFree(long cacheId, double threads, long now) {
        stock(now);
        int regions = 0;
        for (Map.Entry<Long, Integer> room : kept(cacheId).entrySet()) {
            regions += Math.min(room.getValue(), freeFor(cacheId, room.getKey(), threads));
        }
        return regions;
    }

    /**
     * Returns how many regions caches that are being ended still have of the room that is kept for a cache.
     *
     * @param threads as in {@link #keptAndFree}
     */
    public int made(long cacheId, double threads, long now) {
        stock(now);
        int regions = 0;
        for (long serverId : keptFor.getOrDefault(cacheId, Set.of())) {
            boolean listed = isListed(servers.get(serverId));
            int made = kept(serverId, cacheId).made();
            regions += listed ? Math.max(0, made - freeFor(cacheId, serverId, threads)) : 0;
        }
        return regions;
    }

    /** Returns how many regions a server has to give to a cache's regions on a server that leaves. */
    private int freeFor(long cacheId, long serverId, double threads) {
        KnownServer server = servers.get(serverId);
        if (server == null || !isListed(server)) {
            return 0;
        }
        int free = server.room;
        double cores = server.freeCores;
        for (Map.Entry<Long, KeptRoom> other :
                kept.getOrDefault(serverId, Map.of()).entrySet()) {
            KeptRoom room = other.getValue();
            if (room.firm() && other.getKey() != cacheId) {
                free -= room.regions();
                cores -= room.regions() * room.threads();
            }
        }
        return Math.max(0, threads == 0 ? free : (int) Math.min(free, cores / (threads * (1 - ROUNDING))));
    }

    /** Whether room is kept for any cache. */
    public boolean keepsAny() {
        return !kept.isEmpty();
    }

    /** Whether room on a server is kept for any cache. */
    public boolean keepsAny(long serverId) {
        return kept.containsKey(serverId);
    }

    /**
     * Begins to look for room for a cache: until the caller closes the result, what is kept for it counts as free.
     *
     * @param pressed whether what is kept for others does, too, unless that is firm
     */
    public ServingTime serving(long cacheId, boolean pressed) {
        Long before = served;
        boolean pressedBefore = pressing;
        serve(cacheId, pressed);
        return () -> serve(before, pressedBefore);
    }

    private void serve(@Nullable Long cacheId, boolean pressed) {
        Set<Long> changed = new HashSet<>(servedOn());
        served = cacheId;
        pressing = pressed;
        changed.addAll(servedOn());
        changed.forEach(this::offerAgain);
    }

    private Set<Long> servedOn() {
        return pressing ? kept.keySet() : served == null ? Set.of() : keptFor.getOrDefault(served, Set.of());
    }

    private void offerAgain(long serverId) {
        KnownServer server = servers.get(serverId);
        if (server != null) {
            offer(server);
        }
    }

    private int keptFromThis(KnownServer server) {
        return keptForOthers(server).mapToInt(KeptRoom::regions).sum();
    }

    private Stream<KeptRoom> keptForOthers(KnownServer server) {
        return kept.getOrDefault(server.record.id(), Map.of()).entrySet().stream()
                .filter(one -> !one.getKey().equals(served)
                        && !(pressing && !one.getValue().firm()))
                .map(Map.Entry::getValue);
    }

    /**
     * Returns how many regions a server could give to caches, those that are kept included. The server's report does
     * not know regions that are promised but not taken yet; the manager's promises do not contain what caches without a
     * manager take.
     */
    private int room(KnownServer server, ServerReport report) {
        long untaken = 0;
        long all = 0;
        int known = 0;
        for (Map.Entry<Long, Promise> cache : server.promised.entrySet()) {
            int regions = cache.getValue().regions();
            all += regions;
            Integer has = report.held().get(cache.getKey());
            untaken += Math.max(0, regions - (has == null ? 0 : has));
            known += has != null && has <= regions ? 1 : 0;
        }
        if (without.isEmpty()) {
            findSurplus(server, report, known < report.held().size());
        }
        long usable = Math.min(usable(report), report.totalRegions() - report.withdrawnRegions());
        long free = Math.min(usable - all, report.freeRegions() + given(report) - untaken);
        return (int) Math.max(0, free);
    }

    private long given(ServerReport report) {
        return without.isEmpty()
                ? 0
                : report.held().entrySet().stream()
                        .filter(cache -> without.contains(cache.getKey()))
                        .mapToLong(Map.Entry::getValue)
                        .sum();
    }

    /**
     * Looks for room as if some caches had no regions, and their servers had these to give.
     *
     * @param room returns the room; empty if there is not enough
     * @return what it returns
     */
    public Optional<FreeRoom> without(List<CacheRecord> gone, Supplier<Optional<FreeRoom>> room) {
        without = gone.stream().map(CacheRecord::id).collect(Collectors.toUnmodifiableSet());
        // Many of them may be on one server, which is offered once.
        Set<KnownServer> changed = new LinkedHashSet<>();
        gone.forEach(cache -> changed.addAll(movePromises(cache, null)));
        changed.forEach(this::offer);
        try {
            return room.get();
        } finally {
            // Their servers have no more to give than before, so they are offered when all is as it was.
            gone.forEach(cache -> movePromises(null, cache));
            without = Set.of();
            offeredWithout.forEach(this::offer);
            offeredWithout.clear();
        }
    }

    /** Whether a cache has regions that other caches could get. */
    public boolean gives(CacheRecord cache, long now) {
        return cache.regions().keySet().stream()
                .map(servers::get)
                .anyMatch(server -> server != null && !server.record.leaving() && !isSilent(server, now));
    }

    /**
     * Returns how many regions of a server caches may have: of a spot server, those that can leave it within its
     * notice.
     */
    public int usable(ServerReport report) {
        long regions = report.totalRegions();
        return (int) (report.spot() ? Math.min(regions, rates.leavable(report, prices.menu())) : regions);
    }

    /**
     * Returns how many regions a server has to give, those that are held back included.
     *
     * @param threads server threads that each of them needs
     */
    public int free(KnownServer server, double threads) {
        Offer offer = whole.find(server.record.id());
        if (offer == null || threads == 0 || offer.freeCores() == Double.POSITIVE_INFINITY) {
            return offer == null ? 0 : offer.free();
        }
        return (int) Math.min(offer.free(), offer.freeCores() / threads);
    }

    /**
     * Returns how many regions are neither promised, nor held back, nor kept for caches that wait, nor withdrawn; 0 if
     * the server wants regions back. It counts regions that a cache has given back at once, although the server reports
     * them as free a moment later.
     */
    public int unpromised(KnownServer server) {
        if (isPressed(server)) {
            return 0;
        }
        return server.record.regions()
                - (server.report == null ? 0 : server.report.withdrawnRegions())
                - server.promised()
                - heldBack.getOrDefault(server.record.id(), 0)
                - keptFromThis(server);
    }

    /** As {@link #unpromised}, but counts only regions that the server reports as free. */
    public int offered(KnownServer server) {
        Offer offer = stock.find(server.record.id());
        return offer == null ? 0 : offer.free();
    }

    /**
     * Returns a number that changes whenever a server has more to give than before: a search that found no room need
     * not be repeated until then.
     */
    public long growths() {
        return growths;
    }

    /** Recomputes all offers, after a change of the menu or of the caches. */
    public void offerAnew() {
        List.copyOf(heard.values()).forEach(this::offer);
    }

    /** Whether a server has not reported to this manager in time. */
    public boolean isSilent(KnownServer server, long now) {
        return server.report == null || now - server.reportedAt > silentNanos;
    }

    /** Returns the servers that have not reported to this manager in time. */
    public Stream<KnownServer> silent(long now) {
        stock(now);
        return unheard.values().stream();
    }

    /** Whether a server is on disk, has not reported since this manager leads, and may only not have found it yet. */
    public boolean isAwaited(KnownServer server, long now) {
        return !server.wasHeard && awaitsAny(now) && !isReplaced(server);
    }

    /** Returns for how long a server is silent before it is given up. */
    public long forgetNanos() {
        return forgetNanos;
    }

    /** Whether servers may still have to find this manager, which has just begun to lead. */
    public boolean awaitsAny(long now) {
        return now - loadedAt <= AWAITED_NANOS;
    }

    /** Returns the stock of servers that report and stay. */
    public Stock stock(long now) {
        Iterator<KnownServer> oldest = heard.values().iterator();
        while (oldest.hasNext()) {
            KnownServer server = oldest.next();
            if (!isSilent(server, now)) {
                break;
            }
            oldest.remove();
            unheard.put(server.record.id(), server);
            unlist(server.record.id());
        }
        return stock;
    }

    /** As {@link #stock}, with the regions that are held back. */
    public Stock whole(long now) {
        stock(now);
        return whole;
    }

    /** Adds time in which this manager was running and listening. */
    public void listened(long nanos, long now) {
        if (anyHeard(now)) {
            heardNanos += nanos;
        }
    }

    /**
     * Whether nothing more is expected of a server. Silence alone does not prove that it has ended: another server must
     * be at its address, the provider must have reported the end of its machine, an operator must have given it up, or
     * it must have been silent for long while other servers reported.
     */
    public boolean isGone(KnownServer server) {
        return hasEnded(server) || server.record.forgotten() || heardNanos - server.heardNanos > forgetNanos;
    }

    /**
     * Whether a server's process has ended: its memory is gone, and it will not report again. One that was only given
     * up may.
     */
    public boolean hasEnded(KnownServer server) {
        return server.ended || isReplaced(server) || isAbsent(server.record);
    }

    /** Whether it is no server, but a record in the place of one that is not known, as {@link #absent} makes it. */
    private static boolean isAbsent(ServerRecord record) {
        // Each server reports a type.
        return record.forgotten() && record.type().isEmpty();
    }

    /** Returns a record in the place of a server that is not known, and whose regions are lost. */
    static ServerRecord absent(long id, String address, long sinceMillis, long regionBytes, int regions) {
        return new ServerRecord(id, address, "", false, sinceMillis, "", regionBytes, regions, 0, false, true);
    }

    /** Whether another server reports from its address. */
    boolean isReplaced(KnownServer server) {
        if (server.report != null) {
            return false;
        }
        String address = server.record.address();
        KnownServer other = servers.get(reporting.getOrDefault(address, server.record.id()));
        return other != null
                && other != server
                && other.report != null
                && other.record.address().equals(address);
    }

    /** Whether any server reports. If none does, this process itself may be cut off. */
    public boolean anyHeard(long now) {
        return servers.values().stream().anyMatch(server -> !isSilent(server, now));
    }
}
