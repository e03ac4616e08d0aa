package io.farheap.kv;

import io.farheap.control.ControlException;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.elastic.ServerJoin;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.session.EngineSession;
import io.farheap.kv.session.MapCountTotals;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.SpaceMemory;
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
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import jdk.jfr.FlightRecorder;

/**
 * A map in far memory as this process has it open: a cache of objects by key. Many processes get and set objects in it
 * at the same time, and it evicts objects if it has no room for a new one. The map lives in memory servers and outlives
 * the processes that use it. Any thread may call these methods; each thread opens a session of its own for requests.
 *
 * <pre>{@code
 * try (FarMap map = FarMap.builder()
 *                 .name("prices").token(secret).servers("10.0.0.1:7400").memory(8L << 30).create();
 *         MapSession session = map.openSession()) {
 *     session.set(key, value);
 *     byte[] found = session.get(key);
 * }
 * }</pre>
 */
public final class FarMap implements AutoCloseable {

    private static final int REQUESTS = 16;
    private static final int AUDITS = 5;
    private static final int MOST_REQUESTS = 1024;
    /** How many pointers a process keeps by default. */
    static final long POINTERS = 1 << 18;
    /** Requests in flight of each session that moves objects to other blocks. */
    private static final int DRAIN_REQUESTS = 64;

    /** Held by a thread while it changes which memory the map has. */
    private final Object memoryChange = new Object();

    private final Object closing = new Object();

    private final String name;
    private final MapCountTotals tally;
    private final Runnable statistics = this::emitStatistics;
    private final Set<FutureMapSession> futures = ConcurrentHashMap.newKeySet();
    private final MapReopener reopener;
    private volatile EngineConnection now;
    /** Connections before that one, whose leases have ended or end. With {@code closing} held. */
    private final List<EngineConnection> before = new ArrayList<>();

    private boolean closed;

    /**
     * Without a way to open the map again.
     *
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
        this(
                sessions -> new MapConnection(
                        memory, servers, space, clock, policy, keeper, new PointerCache(POINTERS), () -> {}, sessions),
                new AtomicReference<>(() -> {}),
                addresses -> {
                    throw new MapException("this map cannot be opened again");
                });
    }

    /** Makes a map's connection, given a way to open sessions of it. */
    interface ConnectionMaker {
        EngineConnection with(MapConnection.MapSessionOpener sessions);
    }

    /**
     * @param maker makes the first connection; closed with the map
     * @param onLost receives what is to be run when a lease is lost
     * @param opening opens the map again when a lease has been lost
     */
    FarMap(ConnectionMaker maker, AtomicReference<Runnable> onLost, ReopeningWay opening) {
        now = maker.with(this::movingSession);
        name = now.name();
        tally = new MapCountTotals(now.experts());
        now.start();
        reopener = new MapReopener(
                addresses -> opening.open(addresses).with(this::movingSession), () -> now, this::use, this::end);
        onLost.set(reopener::look);
        FlightRecorder.addPeriodicEvent(MapStatisticsEvent.class, statistics);
        // A lease may have been lost before.
        reopener.look();
    }

    /** Opens the map again. */
    interface ReopeningWay {
        ConnectionMaker open(List<String> addresses);
    }

    private MapRequests movingSession(MapConnection of) {
        return of.session(DRAIN_REQUESTS, tally);
    }

    /** Uses another connection from now on. @return false if the map is closed */
    private boolean use(EngineConnection made) {
        synchronized (closing) {
            if (closed) {
                return false;
            }
            before.removeIf(EngineConnection::isUnused);
            // If it cannot begin, it is closed, and must not be the one in use.
            made.start();
            before.add(now);
            now = made;
        }
        return true;
    }

    /**
     * Ends a connection that another one has replaced. A change of the map's memory over it may be recorded already and
     * wait for all processes, so it ends first: else it would fail, although it is made.
     */
    private void end(EngineConnection replaced) {
        synchronized (memoryChange) {
            replaced.end();
        }
    }

    /** The name by which processes open the map. */
    public String name() {
        return name;
    }

    /** Totals of all sessions that this process has opened, since it opened the map. */
    public MapCounts counts() {
        return tally.now();
    }

    /** A builder that names a map, and then creates it or opens it. */
    public static FarMapBuilder builder() {
        return new FarMapBuilder();
    }

    /**
     * Opens a session with room for 16 requests in flight, for one thread at a time.
     *
     * @throws MapException if a server does not answer, or the map has had 2^36 - 1 sessions, the most there are
     */
    public MapSession openSession() {
        return openSession(REQUESTS);
    }

    /**
     * Opens a session with room for a given number of requests in flight. Each takes about 32 KiB.
     *
     * @param requests 1 to 1,024, rounded up to a power of two
     * @throws MapException if a server does not answer, or the map has had 2^36 - 1 sessions, the most there are
     */
    public MapSession openSession(int requests) {
        if (requests < 1 || requests > MOST_REQUESTS) {
            throw new IllegalArgumentException(
                    "a session of " + requests + " requests in flight; it has 1 to " + MOST_REQUESTS);
        }
        int places = Integer.highestOneBit(2 * requests - 1);
        return new MapSession(engineSession(places), () -> engineSession(places));
    }

    /**
     * Opens a session under the present leases; or under the next ones, if these are there when it fails. A session
     * whose leases end as soon as it is open continues under the next ones, as any other does. While the map has no
     * leases it fails.
     */
    private EngineSession engineSession(int places) {
        while (true) {
            EngineConnection of = now;
            try {
                return of.session(places, tally);
            } catch (RuntimeException e) {
                if (of == now) {
                    throw e;
                }
            }
        }
    }

    /** Opens a session with pointers of its own, as one of another process has. */
    MapSession openSession(PointerCache pointers) {
        return new MapSession(
                withPointers().session(REQUESTS, pointers, tally),
                // Eras begin again with a connection.
                () -> withPointers().session(REQUESTS, pointers.another(), tally));
    }

    private MapConnection withPointers() {
        return disaggregated("have other pointers", "they are of its process");
    }

    /**
     * Opens a session whose requests are futures, for any thread.
     *
     * @throws MapException if a server does not answer, or the map has had 2^36 - 1 sessions, the most there are
     */
    public FutureMapSession openFutureSession() {
        FutureMapSession session = new FutureMapSession(openSession(), futures::remove);
        futures.add(session);
        return session;
    }

    /**
     * Opens a view of this map with typed keys and values, for any thread.
     *
     * @throws MapException if a server does not answer, or the map has had 2^36 - 1 sessions, the most there are
     */
    public <K, V> TypedMap<K, V> openTyped(Codec<K> keys, Codec<V> values) {
        return new TypedMap<>(openFutureSession(), keys, values);
    }

    private static final String AS_MADE =
            "each of its servers has the memory that it was made or has joined with; add a server, or make a map of the"
                    + " disaggregated engine";

    /** The connection, for what only the disaggregated engine can do. @param why a leased map cannot, and a remedy */
    private MapConnection disaggregated(String what, String why) {
        if (now instanceof MapConnection connection) {
            return connection;
        }
        throw new MapException("a leased map cannot " + what + ": " + why);
    }

    private MapConnection disaggregated(String what) {
        return disaggregated(what, AS_MADE);
    }

    /**
     * Counts what the map holds: reads the whole table, or asks the servers of a leased map.
     *
     * @throws MapException if a server does not answer
     */
    public MapStats stats() {
        return now.stats();
    }

    /**
     * Has every server account for its blocks: each is named by a slot, held by a session or free, and none has two
     * owners. Servers collect the blocks that dead processes left while they do so. If a process was killed, this waits
     * until its lease ends. If other processes use the map meanwhile, blocks change hands while they are counted, so
     * this repeats the audit a few times. The shards of a leased map account for their blocks between two calls.
     *
     * @throws MapException if a server does not answer
     */
    public MapAudit audit() {
        if (now instanceof LeasedConnection leased) {
            return leased.audit();
        }
        MapConnection of = disaggregated("be audited");
        MapAudit found = MapAudit.of(of.servers, of.keeper.tasks());
        for (int again = 0; again < AUDITS && !found.quiet(); again++) {
            found = MapAudit.of(of.servers, of.keeper.tasks()).after(found);
        }
        return found;
    }

    /**
     * Adds memory to the map, in equal parts on its servers: all of it or none. Nothing moves, and other processes that
     * have the map open use the new memory too. The table does not grow, so {@link FarMapBuilder#objects} should be the
     * number of objects that the map is to hold after it has grown. Returns when the memory is in use, which is as soon
     * as every process that has the map open knows it: about 0.3 s. A process that is stopped delays that until its
     * lease ends.
     *
     * @param bytes of all servers together, rounded up to whole regions on each
     * @throws IllegalArgumentException if a map cannot grow by so many bytes
     * @throws MapException if a server has too little memory, or does not answer: servers that were asked before it
     *     keep their new regions for the map, unused, and the next growth takes these first. Also if a process that has
     *     the map open has not learned of the new memory within 60 s: the map has grown then, and the memory is used as
     *     soon as that process continues or its lease ends
     */
    public void grow(long bytes) {
        int regions = regions(bytes, disaggregated("grow").servers.all().size());
        synchronized (memoryChange) {
            disaggregated("grow").growth.add(regions);
        }
    }

    /** How many regions each of {@code of} servers must add for so many bytes. */
    private int regions(long bytes, int of) {
        SpaceMemory space = disaggregated("grow").space;
        long share = Math.multiplyExact(space.shape().regionBytes(), of);
        long most = (long) (space.shape().mostRegions() - space.regions()) / of * share;
        if (bytes < 1 || bytes > most) {
            throw new IllegalArgumentException("a map that grows by " + ByteSize.text(bytes)
                    + "; this one grows by 1 byte to " + ByteSize.text(most));
        }
        return Math.toIntExact(Math.ceilDiv(bytes, share));
    }

    /**
     * Adds a memory server to the map. Its memory is in use as soon as every process that has the map open has
     * connected to it; a process that is stopped delays that until its lease ends. The server gets no part of the
     * table, so it can be {@linkplain #drain drained} again, and if it is lost, only the objects on it are lost; it is
     * taken out by itself after {@link FarMapBuilder#replaceAfter}, or by a drain. Processes that open the map later
     * learn this address from the map.
     *
     * <p>A server that joins a leased map takes over its share of the keys, which are misses then.
     *
     * @param hostPort of the server; all processes must reach it by this address
     * @param bytes of the server, rounded up to whole regions
     * @throws IllegalArgumentException if the map has that server already, its regions are of another size, or a map
     *     cannot grow by so many bytes
     * @throws ControlException if the server has too little memory, or does not answer
     * @throws MapException if the map's servers do not answer; or, as of {@link #grow}, if a process has not learned of
     *     the server within 60 s, which is part of the map then
     */
    public void addServer(String hostPort, long bytes) {
        synchronized (memoryChange) {
            if (now instanceof LeasedConnection leased) {
                leased.join(hostPort, bytes);
                return;
            }
            int regions = regions(bytes, 1);
            MapConnection of = disaggregated("grow");
            new ServerJoin(of.servers, of.growth).join(hostPort, regions);
        }
    }

    /**
     * Takes a server that was {@linkplain #addServer added} out of the map while the map is used. Its objects are moved
     * to the other servers; if these have no room for all objects of the map, those that were used last are moved.
     * Objects that could not be moved in time are evicted. All other objects can be found throughout. If the server is
     * lost, its objects are gone, and the map continues without it; requests for objects to which a process may have
     * pointers end as lost until all processes know that the server has left.
     *
     * <p>Of a leased map any server can leave but the last of those that the map was made on. Its objects are not
     * moved: they count as evicted.
     *
     * @param hostPort as it was added
     * @param within the time for moving and evicting; moving ends after three quarters of it. Until all processes know
     *     that the server has left, about 0.3 s more pass
     * @throws IllegalArgumentException if the map has no such server, or the server has a part of the table
     * @throws MapException if another server is lost, or a process does not answer; objects that were not moved are
     *     still on the server
     */
    public MapDrain drain(String hostPort, Duration within) {
        return drain(hostPort, within, soFar -> {});
    }

    /** The same. @param progress is called now and then, on this thread, with the totals so far */
    public MapDrain drain(String hostPort, Duration within, Consumer<MapDrain> progress) {
        synchronized (memoryChange) {
            if (now instanceof LeasedConnection leased) {
                return leased.drain(hostPort);
            }
            MapConnection of = disaggregated("be drained");
            return of.drain().drain(hostPort, within, progress);
        }
    }

    /** Addresses of the map's servers; those that it was created on come first. */
    public List<String> servers() {
        return now.servers();
    }

    /**
     * The weights that all sessions have learned together, by the names of the policy's experts; 0 to 1 each. A weight
     * is how far an expert is trusted to choose victims. The policy {@code adaptive} has shares of the objects instead:
     * {@code once} is the share up to which objects that were seen once are kept, and {@code again} is the rest. There
     * an expert whose victims are missed gets a larger share, and so fewer evictions.
     *
     * @throws MapException if the map's first server does not answer
     */
    public Map<String, Double> weights() {
        MapConnection of = disaggregated(
                "learn weights", "it evicts by popularity and age; make a map of the disaggregated engine");
        double[] weights = of.keeper.weights();
        Map<String, Double> named = new LinkedHashMap<>();
        List<String> names = of.experts();
        for (int i = 0; i < weights.length; i++) {
            named.put(names.get(i), weights[i]);
        }
        return named;
    }

    /**
     * Ends the map for all processes, discards its objects, and closes it here. Close sessions first.
     *
     * @throws ControlException if a server does not answer; on the other servers the map has ended nevertheless
     * @throws IllegalStateException as {@link #close}
     */
    public void drop() {
        List.copyOf(futures).forEach(FutureMapSession::checkNotInAction);
        reopener.close();
        synchronized (closing) {
            closed = true;
            List<AutoCloseable> ends = new ArrayList<>();
            ends.add(this::endStatistics);
            ends.addAll(now.drops());
            ends.addAll(before);
            Closeables.all(ends);
        }
    }

    /**
     * Ends this process's use of the map; the map stays. Open sessions can make no more requests, and should be closed.
     * Free blocks of sessions that were closed before this call go back to the servers. Idempotent.
     *
     * @throws IllegalStateException if a dependent action calls it on a thread that completes futures of this map;
     *     nothing is closed then
     */
    @Override
    public void close() {
        // Before the lock is taken: an action on a thread that completes futures may be waiting for the lock.
        List<FutureMapSession> open = List.copyOf(futures);
        open.forEach(FutureMapSession::checkNotInAction);
        Closeables.all(reopener, () -> Closeables.all(open), () -> {
            // A second caller waits here: it must not close what the keeper still uses.
            synchronized (closing) {
                closed = true;
                Closeables.all(
                        this::endStatistics,
                        () -> Closeables.all(List.copyOf(futures)),
                        now,
                        () -> Closeables.all(before));
            }
        });
    }

    /** Whether this process knows of a server that is about to leave the map. */
    boolean knowsOfLeaving() {
        return disaggregated("be drained").space.anyLeaving();
    }

    /** How many segments are being emptied now. */
    long emptying() {
        return disaggregated("empty segments", "its servers do so by themselves")
                .keeper
                .emptied()[1];
    }

    private void emitStatistics() {
        MapStatisticsEvent.emit(name(), counts());
    }

    private void endStatistics() {
        FlightRecorder.removePeriodicEvent(statistics);
    }
}
