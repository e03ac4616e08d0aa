package io.farheap.kv;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.elastic.MapGrowth;
import io.farheap.kv.elastic.SegmentEmptier;
import io.farheap.kv.elastic.ServerDrain;
import io.farheap.kv.elastic.ServerJoin;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.replacement.Replacements;
import io.farheap.kv.session.MapCountTotals;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableReader;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.ByteSize;
import io.farheap.remote.RemoteMemory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import jdk.jfr.FlightRecorder;

/**
 * A map in far memory, as this process has it open: objects by key, which many processes get and set at a time, and
 * which are evicted when there is no room. It outlives the processes that use it. Any thread.
 *
 * <pre>{@code
 * try (FarMap map = FarMap.builder()
 *                 .name("prices").token(secret).servers("10.0.0.1:7400").memory(8L << 30).create();
 *         Session session = map.openSession()) {
 *     session.set(key, value);
 *     byte[] found = session.get(key);
 * }
 * }</pre>
 */
public final class FarMap implements AutoCloseable {

    private static final int REQUESTS = 16;
    private static final int AUDITS = 5;
    private static final int MOST_REQUESTS = 1024;
    /** In flight at a time where objects are moved. */
    private static final int DRAIN_REQUESTS = 64;

    private final RemoteMemory memory;
    private final MapServers servers;
    private final SpaceMemory space;
    private final MapClock clock;
    private final EvictionSettings policy;
    private final MapKeeper keeper;
    private final MapGrowth moreMemory;
    /** Held by whoever changes what memory the map has. */
    private final Object memoryChange = new Object();

    private final Object closing = new Object();

    private final MapCountTotals tally;
    private final SegmentEmptier emptier;
    private final Runnable statistics = this::emitStatistics;
    private final Set<FutureMapSession> futures = ConcurrentHashMap.newKeySet();

    /**
     * @param memory closed with the map
     * @param keeper closed with the map
     */
    FarMap(
            RemoteMemory memory,
            MapServers servers,
            SpaceMemory space,
            MapClock clock,
            EvictionSettings policy,
            MapKeeper keeper) {
        this.keeper = keeper;
        this.memory = memory;
        this.servers = servers;
        this.space = space;
        this.clock = clock;
        this.policy = policy;
        this.moreMemory = new MapGrowth(keeper.tasks(), servers, space, keeper::usedByAll);
        this.tally = new MapCountTotals(Replacements.expertNames(policy.name()));
        this.emptier = new SegmentEmptier(memory, space, keeper.tasks(), () -> requests(DRAIN_REQUESTS));
        keeper.emptiesBy(emptier::ask);
        FlightRecorder.addPeriodicEvent(MapStatisticsEvent.class, statistics);
    }

    /** By which processes find it. */
    public String name() {
        return servers.key().name();
    }

    /** What sessions that this process has opened have met so far. */
    public MapCounts counts() {
        return tally.now();
    }

    /** Says which map, and makes it or opens it. */
    public static FarMapBuilder builder() {
        return new FarMapBuilder();
    }

    /**
     * Opens a session, for one thread at a time.
     *
     * @throws MapException where a server does not answer
     */
    public MapSession openSession() {
        return openSession(REQUESTS);
    }

    /**
     * Opens a session that has room for more or fewer requests in flight than 16, at some 32 KiB each.
     *
     * @param requests 1 to 1,024, rounded up to a power of two
     * @throws MapException where a server does not answer
     */
    public MapSession openSession(int requests) {
        if (requests < 1 || requests > MOST_REQUESTS) {
            throw new IllegalArgumentException(
                    "a session of " + requests + " requests in flight; it has 1 to " + MOST_REQUESTS);
        }
        return new MapSession(requests(Integer.highestOneBit(2 * requests - 1)));
    }

    /** @param places for requests in flight, a power of two */
    private MapRequests requests(int places) {
        return new MapRequests(memory, space, clock, policy, places, sessionNumber(), keeper, tally);
    }

    /**
     * Opens a session of futures, for any thread.
     *
     * @throws MapException where a server does not answer
     */
    public FutureMapSession openFutureSession() {
        FutureMapSession session = new FutureMapSession(openSession(), futures::remove);
        futures.add(session);
        return session;
    }

    /**
     * This map with keys and values of types, for any thread.
     *
     * @throws MapException where a server does not answer
     */
    public <K, V> TypedMap<K, V> openTyped(Codec<K> keys, Codec<V> values) {
        return new TypedMap<>(openFutureSession(), keys, values);
    }

    private long sessionNumber() {
        try (TableReader reader = new TableReader(memory, space)) {
            return reader.add(space.region(0), SpaceShape.SESSION_COUNTER, 1) + 1;
        }
    }

    /**
     * Reads the whole table and says what is in it.
     *
     * @throws MapException where a server does not answer
     */
    public MapStats stats() {
        try (TableReader reader = new TableReader(memory, space)) {
            return MapStats.of(reader, space, keeper.segmentsTaken(), keeper.emptied()[0]);
        }
    }

    /**
     * Has the servers account for every block: whether it is an object's, held by a session or free, and whether any
     * has two owners. Blocks that dead processes left are collected on the way. It takes as long as the lease of a
     * process that was killed. Where others use the map, blocks move meanwhile, and it looks again a few times.
     *
     * @throws MapException where a server does not answer
     */
    public MapAudit audit() {
        MapAudit found = MapAudit.of(servers, keeper.tasks());
        for (int again = 0; again < AUDITS && !found.quiet(); again++) {
            found = MapAudit.of(servers, keeper.tasks()).after(found);
        }
        return found;
    }

    /**
     * Adds memory to the map, in equal parts on its servers: all or none of it. Nothing moves, and others that have the
     * map open use it too. The table stays as it was made, so {@link FarMapBuilder#objects} should count what the map
     * is to hold when it has grown. Returns when the memory is used: as soon as every process that has the map open
     * knows of it, 0.3 s or so; one that is stopped delays it until its lease ends.
     *
     * @param bytes of all servers together, rounded up to whole regions on each
     * @throws IllegalArgumentException where that is no number of bytes that a map can have
     * @throws MapException where a server has too little memory, or does not answer
     */
    public void grow(long bytes) {
        int regions = regions(bytes, servers.all().size());
        synchronized (memoryChange) {
            moreMemory.add(regions);
        }
    }

    /** How many regions on each of some servers so much memory is. */
    private int regions(long bytes, int of) {
        long share = Math.multiplyExact(space.shape().regionBytes(), of);
        long most = (long) (space.shape().mostRegions() - space.regions()) / of * share;
        if (bytes < 1 || bytes > most) {
            throw new IllegalArgumentException("a map that grows by " + ByteSize.text(bytes)
                    + "; this one grows by 1 byte to " + ByteSize.text(most));
        }
        return Math.toIntExact(Math.ceilDiv(bytes, share));
    }

    /**
     * Adds a memory server to the map: its memory is used as soon as every process that has the map open has reached
     * it; one that is stopped delays it until its lease ends. It has no part of the table, so it can be
     * {@linkplain #drain drained} again. Where it is lost, only what lies on it is. Processes that open the map later
     * find it by themselves, by this address.
     *
     * @param hostPort of the server, as all processes reach it
     * @param bytes of the server, rounded up to whole regions
     * @throws IllegalArgumentException where the map has that server, its regions are of another size, or that is no
     *     number of bytes that a map can have
     * @throws ControlException where the server has too little memory, or does not answer
     * @throws MapException where the map's servers do not answer
     */
    public void addServer(String hostPort, long bytes) {
        int regions = regions(bytes, 1);
        synchronized (memoryChange) {
            new ServerJoin(servers, moreMemory).join(hostPort, regions);
        }
    }

    /**
     * Takes a server that was {@linkplain #addServer added} out of the map while it is used. Its objects are moved to
     * the other servers: where these have no room for all that the map has, those that were used last. What has not
     * been moved in time is evicted; other objects are found all the while. Where the server is lost, what was on it is
     * gone, and the map is used without it.
     *
     * @param hostPort as it was added
     * @param within what moving and evicting are to take: moving ends after three quarters of it. That all processes
     *     learn of it comes on top, 0.3 s or so
     * @throws IllegalArgumentException where the map has no such server, or that has a part of its table
     * @throws MapException where another server is lost, or a process does not answer; then what was not moved is where
     *     it was
     */
    public MapDrain drain(String hostPort, Duration within) {
        return drain(hostPort, within, soFar -> {});
    }

    /** The same. @param progress is told now and then how far it is, on this thread */
    public MapDrain drain(String hostPort, Duration within, Consumer<MapDrain> progress) {
        synchronized (memoryChange) {
            return new ServerDrain(servers, space, keeper.tasks(), moreMemory, () -> requests(DRAIN_REQUESTS))
                    .drain(hostPort, within, progress);
        }
    }

    /** Addresses of the servers that the map lies on; those that it was made on first. */
    public List<String> servers() {
        return servers.all().stream().map(each -> each.address()).toList();
    }

    /** How far each of the policy's experts is trusted by now, by what all sessions have learned; 0 to 1 each. */
    public Map<String, Double> weights() {
        double[] weights = keeper.weights();
        Map<String, Double> named = new LinkedHashMap<>();
        List<String> names = Replacements.expertNames(policy.name());
        for (int i = 0; i < weights.length; i++) {
            named.put(names.get(i), weights[i]);
        }
        return named;
    }

    /**
     * Ends the map for everybody, with all that is in it, and closes it here. Sessions are to be closed before.
     *
     * @throws ControlException where a server does not answer; on the others it has ended all the same
     */
    public void drop() {
        List.copyOf(futures).forEach(FutureMapSession::checkNotInAction);
        List<AutoCloseable> ends = new ArrayList<>();
        ends.add(this::endStatistics);
        ends.add(emptier);
        ends.add(keeper::drop);
        servers.all().forEach(each -> ends.add(each.space()::drop));
        ends.add(memory);
        synchronized (closing) {
            Closeables.all(ends);
        }
    }

    /**
     * Ends this process's use of the map; the map stays. Sessions that are open can do nothing any more, and are to be
     * closed; what they have free goes back to the servers where they were closed before. Idempotent.
     */
    @Override
    public void close() {
        // Before the lock: the threads that complete futures may wait for it in an action.
        List<FutureMapSession> open = List.copyOf(futures);
        open.forEach(FutureMapSession::checkNotInAction);
        Closeables.all(() -> Closeables.all(open), () -> {
            // Who comes second is not to close what the keeper still uses.
            synchronized (closing) {
                Closeables.all(
                        this::endStatistics, () -> Closeables.all(List.copyOf(futures)), emptier, keeper, memory);
            }
        });
    }

    /** Whether this process knows of a server that is to leave the map. */
    boolean knowsOfLeaving() {
        return space.anyLeaving();
    }

    /** Segments that are being emptied. */
    long emptying() {
        return keeper.emptied()[1];
    }

    private void emitStatistics() {
        MapStatisticsEvent.emit(name(), counts());
    }

    private void endStatistics() {
        FlightRecorder.removePeriodicEvent(statistics);
    }
}
