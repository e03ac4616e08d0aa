package io.farheap.kv;

import io.farheap.control.ControlException;
import io.farheap.control.SpaceKey;
import io.farheap.control.plane.SpacePlane;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.format.MapEngine;
import io.farheap.kv.format.RegionDirectory;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.keeper.SynchronizedMapClock;
import io.farheap.kv.keeper.TableReplacer;
import io.farheap.kv.leased.client.LeasedMembership;
import io.farheap.kv.leased.client.LeasedPointers;
import io.farheap.kv.leased.client.LeasedSpace;
import io.farheap.kv.leased.client.ShardLines;
import io.farheap.kv.leased.client.ShardReplacer;
import io.farheap.kv.leased.format.LeasedDescriptor;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.ByteSize;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.verbs.PortOptions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Names a map, and creates it or opens it. One thread. */
public final class FarMapBuilder {

    /** The engine of maps that clients change with one-sided operations, without the servers' processors. */
    public static final String DISAGGREGATED = "disaggregated";
    /**
     * The engine of maps that servers change, and of which clients read what is used often by one READ, under leases.
     */
    public static final String LEASED = "leased";

    /** The first of {@link #leaseTerms}, if they are not given. */
    public static final Duration LEASE_STEP = Duration.ofSeconds(1);
    /** The longest of {@link #leaseTerms}, if they are not given. */
    public static final Duration LEASE_LONGEST = Duration.ofSeconds(10);

    private static final long DEFAULT_MEMORY = 1L << 30;
    /** The number of objects, if {@link #objects} was not called, is one for each so many bytes of memory. */
    private static final long DEFAULT_OBJECT_BYTES = 512;

    private static final long MOST_POINTERS = 1 << 30;
    private static final Duration LEAST_STALENESS = Duration.ofMillis(10);
    private static final Duration MOST_STALENESS = Duration.ofHours(1);

    private String name = "";
    private String token = "";
    private List<String> servers = List.of();
    private PortOptions device = PortOptions.DEFAULT;
    private String without = "";
    private long memory = DEFAULT_MEMORY;
    private long objects;
    private long mostBlocks;
    private long pointers = FarMap.POINTERS;
    private Duration staleness = Duration.ZERO;
    private EvictionSettings policy = EvictionSettings.ADAPTIVE;
    private MapEngine engine = MapEngine.DISAGGREGATED;
    private @Nullable Duration term;
    private Duration mostTerm = LEASE_LONGEST;
    private int queues = LeasedDescriptor.MOST_QUEUES;
    private boolean reports = true;
    private boolean writtenReports;
    private LongSupplier leaseClock = System::nanoTime;
    private @Nullable Duration life;
    private Duration replaceAfter = Duration.ofMinutes(5);

    FarMapBuilder() {}

    /** The map's name: 1 to 128 printable characters, unique among the spaces of its servers. */
    public FarMapBuilder name(String value) {
        name = value;
        return this;
    }

    /** The secret that a client needs to open the map: 8 to 64 bytes in UTF-8, best random ones. */
    public FarMapBuilder token(String value) {
        token = value;
        return this;
    }

    /**
     * Memory servers, HOST:PORT each, 1 to 1,024. To open a map, all servers that it was created on, in any order;
     * servers that have joined it since need not be named, since the map has their addresses.
     */
    public FarMapBuilder servers(String... hostPorts) {
        servers = List.of(hostPorts);
        return this;
    }

    /**
     * Opens the map without a server that is lost for good. If it has joined the map, this process does not find the
     * objects on it: {@linkplain FarMap#drain drain} the server then, after which any process can open the map again.
     * If the map was made on it, it is replaced, as of {@link #replaceAfter}, but at once, if all others answer: name
     * it among the {@linkplain #servers servers} then. Only for opening a map.
     *
     * @param hostPort as the server was added or named
     */
    public FarMapBuilder withoutServer(String hostPort) {
        without = hostPort;
        return this;
    }

    /**
     * The RDMA device, as {@code NAME} or {@code NAME:PORT}; by default the first that is usable. Other settings of
     * {@link #device(PortOptions)} stay.
     */
    public FarMapBuilder device(String value) {
        device = device.device(value);
        return this;
    }

    /** The RDMA device and its port, and how connections leave it: the address, the service level and others. */
    public FarMapBuilder device(PortOptions port) {
        device = port;
        return this;
    }

    /**
     * Bytes of all servers together, rounded up to whole regions on each; by default 1 GiB. Only for creating a map.
     */
    public FarMapBuilder memory(long bytes) {
        memory = bytes;
        return this;
    }

    /**
     * How many objects the map is to hold. The table is made for so many and does not grow. It takes 80 bytes for each
     * object; if there are many more objects, they evict each other before the memory is full. By default one for each
     * 512 bytes of memory, which is counted in whole regions. Only for creating a map.
     */
    public FarMapBuilder objects(long count) {
        if (count < 1) {
            throw new IllegalArgumentException("a map for " + count + " objects; it needs at least 1");
        }
        objects = count;
        return this;
    }

    /**
     * How many pointers to objects this process keeps, so that a get of one of these objects is one READ. They take 64
     * bytes each, rounded up to a power of two, and 128 of a leased map; 262,144 by default, and 0 for none. About
     * twice as many as there are objects that are often got. Other processes choose for themselves.
     *
     * @param most 0 to 2^30
     */
    public FarMapBuilder pointers(long most) {
        if (most < 0 || most > MOST_POINTERS) {
            throw new IllegalArgumentException(
                    "a process with " + most + " pointers to a map's objects; it keeps 0 to " + MOST_POINTERS);
        }
        pointers = most;
        return this;
    }

    /**
     * How old a value may be that a get of this process returns; by default zero: every get returns what is current.
     * Then other processes pay nothing for this process's {@link #pointers}, when they change or evict an object: they
     * save a compare-and-swap, and a round trip if object and table entry are on two servers. A get returns a value
     * that was current at some moment not longer before it began, by this process's clock, and may find an object that
     * was deleted or evicted since. It never returns what was replaced or deleted before through the same
     * {@link FarMap}, in whatever session. A get may return an older value than the get before it if another get of the
     * key is under way at the same time. A value in pieces is current when it is got. Other processes choose for
     * themselves, and their gets are exact. For maps of the {@link #DISAGGREGATED} engine.
     *
     * @param most zero, or 10 ms to an hour
     */
    public FarMapBuilder staleness(Duration most) {
        boolean between = most.compareTo(LEAST_STALENESS) >= 0 && most.compareTo(MOST_STALENESS) <= 0;
        if (!most.isZero() && !between) {
            throw new IllegalArgumentException("a process that gets values up to " + most + " old; give zero, or "
                    + LEAST_STALENESS + " to " + MOST_STALENESS);
        }
        staleness = most;
        return this;
    }

    /**
     * How the map's clients and servers share the work: {@link #DISAGGREGATED}, the default, or {@link #LEASED}. A
     * leased map has no policy, and moves no objects when servers join or leave. Only for creating a map.
     *
     * @throws IllegalArgumentException if there is no engine of that name
     */
    public FarMapBuilder engine(String value) {
        engine = MapEngine.of(value);
        return this;
    }

    /**
     * For how long a leased map leases its blocks to clients: an object that was used about 2^n times lately for n
     * times {@code step}, and at most {@code longest}. A block that was replaced is used again when its lease is over.
     * By default 1 s and 10 s. If {@code longest} is zero, there are no leases, and objects become less popular as if
     * there were. Only for creating a map.
     *
     * @throws IllegalArgumentException if one is negative or above a minute
     */
    public FarMapBuilder leaseTerms(Duration step, Duration longest) {
        Duration most = Duration.ofNanos(LeasedDescriptor.MOST_TERM_NANOS);
        if (step.isNegative() || longest.isNegative() || step.compareTo(most) > 0 || longest.compareTo(most) > 0) {
            throw new IllegalArgumentException(
                    "leases of " + step + " up to " + longest + "; terms are between zero and " + most);
        }
        term = step;
        mostTerm = longest;
        return this;
    }

    /**
     * How many LRU queues a leased map has for each size of blocks, 16 by default: an object that was used about 2^n
     * times lately is in queue n, at most in the last. Only for creating a map.
     *
     * @param count 1 to 16; 1: an LRU list, in which every object has the term {@code step}
     */
    public FarMapBuilder leaseQueues(int count) {
        if (count < 1 || count > LeasedDescriptor.MOST_QUEUES) {
            throw new IllegalArgumentException(
                    "a leased map of " + count + " queues; it has 1 to " + LeasedDescriptor.MOST_QUEUES);
        }
        queues = count;
        return this;
    }

    /**
     * Whether this process reports to the servers of a leased map what it has read without asking them, as it does by
     * default. Without reports the map evicts what only this process reads: for one that reads objects which others
     * should not keep for its sake, such as a backup. Other processes choose for themselves.
     */
    public FarMapBuilder reports(boolean value) {
        reports = value;
        return this;
    }

    /**
     * Whether this process writes what it reports to the servers of a leased map into memory of its own there, instead
     * of sending it; false by default. A server merges such reports when it serves calls, and none wakes it. They take
     * one region of each server, as values in pieces do; if a server has no region left, reports are sent to it. Other
     * processes choose for themselves.
     */
    public FarMapBuilder writtenReports(boolean value) {
        writtenReports = value;
        return this;
    }

    /** The clock by which this process counts its leases; for tests. */
    FarMapBuilder leaseClock(LongSupplier nanos) {
        leaseClock = nanos;
        return this;
    }

    /**
     * Limits the map to {@code most} objects, each of at most 24 bytes of key, padded to 8 bytes, and value together.
     * Free blocks that sessions hold count too. This is for measuring hit ratios of policies. Only for creating a map.
     */
    public FarMapBuilder smallObjects(long most) {
        if (most < 1) {
            throw new IllegalArgumentException("a map of at most " + most + " objects; it has at least 1");
        }
        mostBlocks = most;
        return this;
    }

    /**
     * The policy that decides which objects are evicted: {@code adaptive}, the default; {@code paper}, which learns how
     * much to follow LRU and LFU; or one or several {@linkplain io.farheap.kv.policy.Policies#names policies},
     * separated by commas, which it learns to weigh. Only for creating a map.
     *
     * @throws IllegalArgumentException if there is no such policy, or maps cannot use it
     */
    public FarMapBuilder policy(String value) {
        policy = EvictionSettings.of(value);
        return this;
    }

    /**
     * How long the map lives: it ends after this time, with all its objects. By default it stays until it is dropped.
     * Only for creating a map.
     *
     * @param value rounded up to ms, and at most ten years; zero for a map that stays
     */
    public FarMapBuilder life(Duration value) {
        life = value;
        return this;
    }

    /**
     * How long a server must not have answered before the map continues without it. A process that has the map open
     * must have lost the server; if none has it open, only {@link #withoutServer} opens the map without it. The objects
     * on it are lost; if it answers again later, what it has is not used. By default five minutes.
     *
     * <p>If the map was made on the server, its part of the table is made again, empty, on the others, which need
     * memory for that. A map on fewer than three servers does not continue without one of these, and neither does one
     * without more than half of those that it was made on. A server that has joined is taken out of any map. In a map
     * on three or more a process that reaches less than half of them cannot make requests: they end as lost. Only for
     * creating a map.
     *
     * @param value rounded up to ms, and at most ten years; zero: the map never continues without one
     */
    public FarMapBuilder replaceAfter(Duration value) {
        replaceAfter = value;
        return this;
    }

    /**
     * Creates a map.
     *
     * @throws IllegalArgumentException if an option is wrong, or options do not fit together
     * @throws ControlException if a server cannot be reached, has too little memory, or has a space of that name
     */
    public FarMap create() {
        return connect(this::create);
    }

    /**
     * Opens an existing map. Its servers have the options that it was created with.
     *
     * @throws MapException if the map is of another release, or not all of its servers were named
     * @throws ControlException if a server cannot be reached, has no such map, or the token is wrong; the map may be
     *     under creation, or may have been created or dropped by half, then {@link #dropParts} ends it
     */
    public FarMap open() {
        return connect(this::open);
    }

    /**
     * Ends what the named servers have of a map, and discards its objects, even if these servers are not the map's
     * servers, or not all of them: for a map of which a client's {@link #create} or {@link FarMap#drop} ended half-way,
     * so that it cannot be opened, and for a map of another release. Processes that have the map open lose it.
     *
     * @return how many of the servers had a part of the map; the others have none of that name and that token
     * @throws MapException if a server has a space of that name and that token that another program made, which stays;
     *     on the other servers the parts have ended nevertheless
     * @throws ControlException if a server cannot be reached; on the other servers the parts have ended nevertheless
     */
    public int dropParts() {
        SpaceKey key = key();
        AtomicInteger ended = new AtomicInteger();
        try (RemoteMemory remote = RemoteMemory.open(device, "map " + name, server -> {})) {
            List<AutoCloseable> drops = new ArrayList<>();
            for (String server : servers) {
                drops.add(() -> ended.addAndGet(dropPart(remote, server, key) ? 1 : 0));
            }
            Closeables.all(drops);
        }
        return ended.get();
    }

    private static boolean dropPart(RemoteMemory remote, String hostPort, SpaceKey key) {
        RemoteServer server = remote.attach(hostPort);
        try {
            RemoteSpace space = remote.openSpace(server, key);
            if (!MapDescriptor.isOfMap(space.descriptor())) {
                throw new MapException(space + " is no map: another program made it, and it stays; leave out "
                        + hostPort + ", or drop the space with that program");
            }
            remote.dropSpace(server, key, space.id());
            return true;
        } catch (ControlException e) {
            if (e.code() == ControlException.Code.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    private interface MapOpener {
        FarMap.ConnectionMaker on(RemoteMemory remote, ProcessPointers kept, SpaceKey key, CloseStack stack);
    }

    /**
     * The pointers of this process to the map, under the leases of one connection; a leased map has others. It receives
     * each server whose lease is lost.
     */
    private static final class ProcessPointers implements Consumer<RemoteServer> {

        private final PointerCache cache;
        /** Has what is run when a lease is lost. */
        private final AtomicReference<Runnable> onLost;
        /** The servers that have the table; empty until they are known. */
        private volatile List<RemoteServer> table = List.of();

        ProcessPointers(long most, Duration staleness, AtomicReference<Runnable> onLost) {
            cache = new PointerCache(most, staleness.toNanos(), System::nanoTime);
            this.onLost = onLost;
        }

        /** These have the table: the pointers count only while the leases on them are held. */
        void under(List<RemoteServer> servers) {
            table = servers;
            cache.onlyUnder(() -> heldUntil(servers));
        }

        /**
         * A lease is lost. A server that has the table may be replaced by others as soon as this process says that it
         * has lost it. A server that has joined asks for nothing.
         */
        @Override
        public void accept(RemoteServer server) {
            List<RemoteServer> known = table;
            if (known.isEmpty() || known.contains(server)) {
                cache.stop();
            }
            openAgain();
        }

        /** The map may have to be opened again. */
        void openAgain() {
            Objects.requireNonNull(onLost.get()).run();
        }
    }

    /** Checks the name, the token and the servers. */
    private SpaceKey key() {
        if (servers.isEmpty()
                || servers.size() > MapDescriptor.MOST_SERVERS
                || servers.stream().distinct().count() != servers.size()) {
            throw new IllegalArgumentException(
                    "a map on servers " + servers + "; name 1 to " + MapDescriptor.MOST_SERVERS + ", each once");
        }
        return SpaceKey.of(name, token);
    }

    private FarMap connect(MapOpener way) {
        FarMapBuilder same = new FarMapBuilder();
        same.name = name;
        same.token = token;
        same.device = device;
        same.without = without;
        same.pointers = pointers;
        same.staleness = staleness;
        same.reports = reports;
        same.writtenReports = writtenReports;
        same.leaseClock = leaseClock;
        AtomicReference<Runnable> onLost = new AtomicReference<>(() -> {});
        FarMap.ReopeningWay again = addresses -> {
            same.servers = addresses;
            return same.connection(same::open, onLost);
        };
        return new FarMap(connection(way, onLost), onLost, again);
    }

    /** @param onLost has what is run when a lease is lost */
    private FarMap.ConnectionMaker connection(MapOpener way, AtomicReference<Runnable> onLost) {
        SpaceKey key = key();
        try (CloseStack stack = new CloseStack()) {
            ProcessPointers kept = new ProcessPointers(pointers, staleness, onLost);
            stack.add(kept.cache);
            RemoteMemory remote = stack.add(RemoteMemory.open(device, "map " + name, kept));
            FarMap.ConnectionMaker made = way.on(remote, kept, key, stack);
            stack.keep();
            return made;
        }
    }

    private FarMap.ConnectionMaker create(RemoteMemory remote, ProcessPointers kept, SpaceKey key, CloseStack stack) {
        List<RemoteServer> attached = servers.stream().map(remote::attach).toList();
        long regionBytes = attached.getFirst().description().regionBytes();
        for (RemoteServer server : attached) {
            if (server.description().regionBytes() != regionBytes) {
                throw new IllegalArgumentException("regions of " + ByteSize.text(regionBytes) + " on "
                        + attached.getFirst() + " and of "
                        + ByteSize.text(server.description().regionBytes()) + " on " + server
                        + "; a map lies on servers with regions of one size");
            }
        }
        int each = regionsOfEach(regionBytes, attached.size());
        int regions = each * attached.size();
        long wanted = objects > 0 ? objects : Math.max(1, regions * regionBytes / DEFAULT_OBJECT_BYTES);
        if (engine == MapEngine.LEASED) {
            kept.cache.close();
            return createLeased(remote, attached, key, stack, each, regionBytes, wanted);
        }
        if (term != null) {
            throw new IllegalArgumentException("leases of " + term + " up to " + mostTerm
                    + " in a map of the disaggregated engine, which gives none; leave them out, or make a leased map");
        }
        if (queues != LeasedDescriptor.MOST_QUEUES || !reports) {
            throw new IllegalArgumentException((reports ? queues + " LRU queues" : "no reports of READs")
                    + " in a map of the disaggregated engine, which has neither queues nor reports; leave that out, or"
                    + " make a leased map");
        }
        if (writtenReports) {
            throw new IllegalArgumentException("written reports in a map of the disaggregated engine, which has no "
                    + "reports; leave them out, or make a leased map");
        }
        SpaceShape.of(regionBytes, regions, wanted);
        MapDescriptor descriptor = new MapDescriptor(
                ThreadLocalRandom.current().nextLong(),
                0,
                attached.size(),
                each,
                regionBytes,
                wanted,
                System.currentTimeMillis(),
                mostBlocks,
                KeyHash.random(new SecureRandom()),
                replaceMillis(),
                policy.name());
        List<RemoteSpace> spaces = spaces(remote, attached, key, stack, each, false, number -> descriptor
                .of(number)
                .encode());
        TreeMap<Integer, RemoteSpace> byNumber = new TreeMap<>();
        spaces.forEach(space -> byNumber.put(byNumber.size(), space));
        return map(remote, kept, key, descriptor, servers -> byNumber);
    }

    private long replaceMillis() {
        long millis = Lifetimes.millis(replaceAfter, Long.MAX_VALUE);
        if (millis < 0 || millis > SpacePlane.MAX_MILLIS) {
            throw new IllegalArgumentException("a map that continues without a server after " + replaceAfter
                    + "; that takes 0 to " + SpacePlane.MAX_MILLIS + " ms");
        }
        return millis;
    }

    private List<RemoteSpace> spaces(
            RemoteMemory remote,
            List<RemoteServer> attached,
            SpaceKey key,
            CloseStack stack,
            int regionsOfEach,
            boolean readOnly,
            IntFunction<byte[]> descriptor) {
        long millis = life == null ? SpacePlane.FOR_EVER : Lifetimes.millis(life, SpacePlane.FOR_EVER);
        List<RemoteSpace> spaces = new ArrayList<>();
        for (RemoteServer server : attached) {
            RemoteSpace space =
                    remote.createSpace(server, key, regionsOfEach, millis, descriptor.apply(spaces.size()), readOnly);
            stack.add(space::drop);
            spaces.add(space);
        }
        return spaces;
    }

    private FarMap.ConnectionMaker createLeased(
            RemoteMemory remote,
            List<RemoteServer> attached,
            SpaceKey key,
            CloseStack stack,
            int each,
            long regionBytes,
            long wanted) {
        refuseStaleness();
        if (mostBlocks > 0 || !policy.equals(EvictionSettings.ADAPTIVE)) {
            throw new IllegalArgumentException("a leased map with the policy " + policy.name()
                    + (mostBlocks > 0 ? " and a limit of small objects" : "")
                    + "; it has neither: leave them out, or make a map of the disaggregated engine");
        }
        LeasedDescriptor descriptor = new LeasedDescriptor(
                ThreadLocalRandom.current().nextLong(),
                0,
                attached.size(),
                each,
                regionBytes,
                wanted,
                Objects.requireNonNullElse(term, LEASE_STEP).toNanos(),
                mostTerm.toNanos(),
                queues,
                KeyHash.random(new SecureRandom()),
                replaceMillis(),
                0);
        // Refuses what cannot be before a server is asked for memory.
        descriptor.shape();
        List<RemoteSpace> spaces = spaces(remote, attached, key, stack, each, true, number -> descriptor
                .of(number)
                .encode());
        TreeMap<Integer, RemoteSpace> byNumber = new TreeMap<>();
        spaces.forEach(space -> byNumber.put(byNumber.size(), space));
        return leased(remote, key, descriptor, byNumber, new FoundParts());
    }

    /**
     * Opens a leased map.
     *
     * @param made the map's servers that answer
     * @param found what was found on all that were named
     */
    private FarMap.ConnectionMaker leased(
            RemoteMemory remote,
            SpaceKey key,
            LeasedDescriptor map,
            SortedMap<Integer, RemoteSpace> made,
            FoundParts found) {
        try (CloseStack stack = new CloseStack()) {
            ShardLines lines = stack.add(new ShardLines(remote));
            ShardReplacer.JoinedServers joins = (number, address) -> joined(remote, key, map, number, address);
            ShardReplacer.UsedEdition edition = agreed(found, () -> new ShardReplacer(
                            lines, map, joins, made, found.missing.size(), found.lost > 0, without)
                    .agree());
            made.forEach((number, space) -> {
                if (edition.spaces().containsKey(number)) {
                    return;
                }
                boolean drained = number < Long.SIZE && (edition.directory().drained() >>> number & 1) != 0;
                // Processes that have not heard of it may still ask it. The process that has taken it out ends the part
                // after these; but it may have died.
                boolean mayBeUsed = drained && !lines.isUnused(space, number, map);
                lines.leave(number);
                if (mayBeUsed) {
                    remote.detach(space.server());
                } else {
                    dropLeft(remote, key, space);
                }
            });
            LeasedSpace space = new LeasedSpace(map, edition);
            LeasedMembership membership = stack.add(new LeasedMembership(remote, space, lines, joins));
            LeasedPointers kept = stack.add(new LeasedPointers(pointers, reports));
            LeasedConnection connection = new LeasedConnection(
                            remote, key, space, membership, kept, without, leaseClock)
                    .writingReports(writtenReports);
            stack.keep();
            return _ -> connection;
        }
    }

    /** A leased map's part on a server that has joined; null if it does not answer, or has none. */
    private static @Nullable RemoteSpace joined(
            RemoteMemory remote, SpaceKey key, LeasedDescriptor map, int number, String address) {
        RemoteServer server;
        try {
            server = remote.attach(address);
        } catch (ControlException e) {
            return null;
        }
        try {
            RemoteSpace space = remote.openSpace(server, key);
            LeasedDescriptor own = LeasedDescriptor.decode(space.descriptor(), space.toString());
            if (own.belongsTo(map) && own.server() == number) {
                return space;
            }
        } catch (ControlException | MapException e) {
            // It has another map's part now, or none.
        }
        remote.detach(server);
        return null;
    }

    private void refuseStaleness() {
        if (!staleness.isZero()) {
            throw new IllegalArgumentException("values up to " + staleness + " old of a leased map, whose gets are "
                    + "exact and cost other processes nothing; leave that out");
        }
    }

    private FarMap.ConnectionMaker openLeased(RemoteMemory remote, SpaceKey key, FoundParts found) {
        refuseStaleness();
        TreeMap<Integer, RemoteSpace> made = new TreeMap<>();
        RemoteSpace any = found.all.getFirst();
        LeasedDescriptor map =
                LeasedDescriptor.decode(any.descriptor(), any.toString()).of(0);
        for (RemoteSpace part : found.all) {
            LeasedDescriptor own = LeasedDescriptor.decode(part.descriptor(), part.toString());
            if (!own.joined() && part.regions().size() < own.regionsOfEach()) {
                throw new MapException(part + " has " + part.regions().size() + " regions, and its descriptor says "
                        + own.regionsOfEach() + "; drop it with kv drop --parts");
            }
            if (!own.belongsTo(map)) {
                throw new MapException(part + " is of another map than " + any + "; name the servers of one map");
            }
            if (own.joined()) {
                // The map says where it is.
                remote.detach(part.server());
            } else if (made.put(own.server(), part) != null) {
                throw new MapException("two servers say that they are the same one of map " + name
                        + "; name each server by one address, once");
            }
        }
        if (made.isEmpty()) {
            throw new MapException(
                    "map " + name + " was made on other servers, and 0 of these were named; name all of them");
        }
        return leased(remote, key, map, made, found);
    }

    private int regionsOfEach(long regionBytes, int of) {
        long most = (long) (SpaceShape.mostRegions(regionBytes) / of) * of * regionBytes;
        if (memory < 1 || memory > most) {
            throw new IllegalArgumentException(
                    "a map of " + ByteSize.text(memory) + " on " + of + " servers with regions of "
                            + ByteSize.text(regionBytes) + "; it has 1 byte to " + ByteSize.text(most));
        }
        return Math.toIntExact(Math.ceilDiv(memory, regionBytes * of));
    }

    /** The parts of a map that were found on the servers that were named. */
    private static final class FoundParts {

        /** By the server's number among those that the map was made on. */
        private final TreeMap<Integer, RemoteSpace> made = new TreeMap<>();

        private final List<RemoteSpace> all = new ArrayList<>();
        /** Why others have none. */
        private final List<ControlException> missing = new ArrayList<>();
        /** How many others were not asked, as they are lost for good. */
        private int lost;

        private @Nullable MapDescriptor map;
        /** Whether it is a leased map; then nothing is known but the parts. */
        private boolean leased;
    }

    private FarMap.ConnectionMaker open(RemoteMemory remote, ProcessPointers kept, SpaceKey key, CloseStack unused) {
        FoundParts found = parts(remote, key);
        if (found.leased) {
            kept.cache.close();
            return openLeased(remote, key, found);
        }
        MapDescriptor map = found.map;
        if (map == null) {
            if (!found.missing.isEmpty()) {
                throw found.missing.getFirst();
            }
            throw new MapException(
                    "map " + name + " was made on other servers, and 0 of these were named; name all of " + "them");
        }
        if (!map.replaces()) {
            refuseMissing(found);
            requireAll(found, map);
            return map(remote, kept, key, map, servers -> found.made);
        }
        return map(remote, kept, key, map, servers -> agreed(remote, key, servers, map, found));
    }

    /** Finds out which of the servers that the map was made on have the table. */
    private SortedMap<Integer, RemoteSpace> agreed(
            RemoteMemory remote, SpaceKey key, MapServers servers, MapDescriptor map, FoundParts found) {
        SortedMap<Integer, RemoteSpace> present = agreed(
                found, () -> new TableReplacer(servers, map, found.made, found.missing.size(), found.lost > 0).agree());
        found.made.forEach((number, space) -> {
            if (!present.containsKey(number)) {
                dropLeft(remote, key, space);
            }
        });
        return present;
    }

    /** Finds or makes an edition; if that fails, says which server is missing. */
    private static <T> T agreed(FoundParts found, Supplier<T> edition) {
        try {
            return edition.get();
        } catch (MapException e) {
            if (found.missing.isEmpty()) {
                throw e;
            }
            ControlException why = found.missing.getFirst();
            throw new ControlException(why.code(), missing(why, found) + "; " + e.getMessage(), why);
        }
    }

    /** A server was lost and has been replaced, and answers again. */
    private static void dropLeft(RemoteMemory remote, SpaceKey key, RemoteSpace space) {
        try {
            remote.dropSpace(space.server(), key, space.id());
        } catch (ControlException e) {
            // No process uses it; another one drops it.
        }
        remote.detach(space.server());
    }

    private static void refuseMissing(FoundParts found) {
        if (!found.missing.isEmpty()) {
            ControlException why = found.missing.getFirst();
            throw new ControlException(why.code(), missing(why, found), why);
        }
        if (found.lost > 0) {
            throw new MapException("the map was made on the server that is lost, so it cannot be opened without: it was"
                    + " made on fewer than " + MapDescriptor.LEAST_REPLACING + " servers, or so that it never continues"
                    + " without one; end it with farheap kv drop --parts, and create another");
        }
    }

    private static String missing(ControlException why, FoundParts found) {
        return why.code() != ControlException.Code.NOT_FOUND
                ? why.getMessage()
                : why.getMessage() + ", but there is " + found.all.getFirst()
                        + ": leave out servers that have left the map, name those of one map, and try again if it"
                        + " is being created; if a client ended while it created or dropped the map, end its parts"
                        + " with farheap kv drop --parts";
    }

    private void requireAll(FoundParts found, MapDescriptor map) {
        if (map.servers() != found.made.size()) {
            throw new MapException("map " + name + " was made on " + map.servers() + " servers, and "
                    + found.made.size() + " of these were named; name all of them");
        }
    }

    /** Opens the spaces of the map on all servers that were named and answer. */
    private FoundParts parts(RemoteMemory remote, SpaceKey key) {
        FoundParts found = new FoundParts();
        for (String address : servers) {
            if (address.equals(without)) {
                requireSilent(remote, key, address);
                found.lost++;
                continue;
            }
            try {
                found.all.add(remote.openSpace(remote.attach(address), key));
            } catch (ControlException e) {
                boolean silent = e.code() == ControlException.Code.UNAVAILABLE
                        || e.code() == ControlException.Code.DEADLINE_EXCEEDED
                        || e.code() == ControlException.Code.NOT_FOUND;
                if (!silent) {
                    throw e;
                }
                found.missing.add(e);
            }
        }
        if (!found.all.isEmpty()) {
            RemoteSpace first = found.all.getFirst();
            found.leased = MapDescriptor.engine(first.descriptor(), first.toString()) == MapEngine.LEASED;
        }
        RemoteSpace any = null;
        MapDescriptor same = null;
        for (RemoteSpace space : found.leased ? List.<RemoteSpace>of() : found.all) {
            MapDescriptor own = MapDescriptor.decode(space.descriptor(), space.toString());
            if (same != null && !own.belongsTo(same)) {
                throw new MapException(space + " is of another map than " + any + "; name the servers of one map");
            }
            any = any == null ? space : any;
            same = same == null ? own : same;
            if (!own.joined()) {
                found.map = found.map == null ? own : found.map;
                if (found.made.put(own.server(), space) != null) {
                    throw new MapException("two servers say that they are the same one of map " + name
                            + "; name each server by one address, once");
                }
            }
        }
        return found;
    }

    /** Refuses a server that answers: others may use it. */
    private static void requireSilent(RemoteMemory remote, SpaceKey key, String address) {
        RemoteServer server;
        try {
            server = remote.attach(address);
        } catch (ControlException e) {
            return;
        }
        try {
            remote.openSpace(server, key);
        } catch (ControlException e) {
            return;
        } finally {
            remote.detach(server);
        }
        throw new MapException("server " + address + " answers, and has its part of the map: it is not lost");
    }

    /** Decides which servers a process uses the map with. */
    private interface TableServersChoice {
        SortedMap<Integer, RemoteSpace> of(MapServers servers);
    }

    private FarMap.ConnectionMaker map(
            RemoteMemory remote,
            ProcessPointers kept,
            SpaceKey key,
            MapDescriptor descriptor,
            TableServersChoice choice) {
        MapServers servers =
                new MapServers(remote, key, ThreadLocalRandom.current().nextLong(), without);
        SortedMap<Integer, RemoteSpace> present;
        try {
            present = choice.of(servers);
        } catch (Throwable e) {
            Closeables.after(e, servers);
            throw e;
        }
        kept.under(present.values().stream().map(RemoteSpace::server).toList());
        RemoteSpace any = present.values().iterator().next();
        SpaceMemory memory = new SpaceMemory(
                descriptor.shape(),
                descriptor.keyHash(),
                RegionDirectory.of(descriptor),
                number -> present.getOrDefault(number, any),
                descriptor.replaces());
        SynchronizedMapClock time = new SynchronizedMapClock(System::nanoTime);
        MapKeeper keeper = new MapKeeper(servers, present, memory, time);
        EvictionSettings policy = EvictionSettings.of(descriptor.policy());
        return sessions ->
                new MapConnection(remote, servers, memory, time, policy, keeper, kept.cache, kept::openAgain, sessions);
    }

    /** When the first of the leases on these servers ends, in {@link System#nanoTime}. */
    private static long heldUntil(List<RemoteServer> servers) {
        long first = servers.getFirst().heldUntil();
        for (int i = 1; i < servers.size(); i++) {
            long until = servers.get(i).heldUntil();
            // These are nanoTime, which may overflow.
            first = until - first < 0 ? until : first;
        }
        return first;
    }
}
