package io.farheap.resilience;

import io.farheap.control.ControlException;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.keeper.HealthWatch;
import io.farheap.resilience.keeper.ResilienceStatisticsEvent;
import io.farheap.resilience.keeper.ServerRetirement;
import io.farheap.resilience.keeper.SlabKeeper;
import io.farheap.resilience.keeper.SlabPlacement;
import io.farheap.resilience.table.ServerErrorCounts;
import io.farheap.resilience.table.Slab;
import io.farheap.resilience.table.SlabTable;
import io.farheap.resilience.table.SpaceState;
import io.farheap.resilience.table.StripeWords;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * An address space whose pages are coded over k + r servers, as {@link Resilience} says. It belongs to one process; its
 * {@linkplain #openSession sessions} read and write. A thread in the background regenerates lost slabs if a server of a
 * free failure domain has room. Any thread.
 *
 * <pre>{@code
 * try (RemoteMemory memory = RemoteMemory.open("", "example")) {
 *     servers.forEach(memory::attach);
 *     try (CodedSpace space = CodedSpace.create(memory, Resilience.failureRecovery(4, 2), 1 << 30, RemoteServer::address);
 *             CodedSession session = space.openSession()) {
 *         session.writeBlocking(0, bytes, 0, bytes.byteSize());
 *     }
 * }
 * }</pre>
 */
public final class CodedSpace implements AutoCloseable {

    private static final int USUAL_REQUESTS = 256;

    private final SpaceState space;
    private final SlabPlacement placement;
    private final SlabKeeper keeper;
    private final Runnable statistics = this::emitStatistics;
    /** Held by a thread that retires a server or grows the space. */
    private final ReentrantLock changes = new ReentrantLock();

    /** Set with this object's monitor held. */
    private volatile boolean closed;

    private CodedSpace(SpaceState space, SlabPlacement placement, SlabKeeper keeper) {
        this.space = space;
        this.placement = placement;
        this.keeper = keeper;
    }

    /** As {@link #create(RemoteMemory, Resilience, long, Function, Consumer)}, without a listener. */
    public static CodedSpace create(
            RemoteMemory memory, Resilience resilience, long bytes, Function<RemoteServer, String> domains) {
        return create(memory, resilience, bytes, domains, null);
    }

    /**
     * Creates a space of slabs on the servers that the memory is attached to. Its content is zero.
     *
     * @param memory stays the caller's, and open until the space is closed
     * @param bytes of the space, rounded up to whole ranges of k slabs; a slab is a region of a server. It can
     *     {@linkplain #grow grow}
     * @param domains names the failure domain of a server: the slabs of a range are in different ones
     * @param listener receives the space's health soon after slabs have become void, are being regenerated or are good
     *     again, or after a server has become suspect or is so no more; on a thread of its own. Or null
     * @throws IllegalArgumentException if too few domains have room, or a slab has no room for a split
     */
    public static CodedSpace create(
            RemoteMemory memory,
            Resilience resilience,
            long bytes,
            Function<RemoteServer, String> domains,
            @Nullable Consumer<Health> listener) {
        List<RemoteServer> servers = memory.servers();
        if (servers.isEmpty()) {
            throw new IllegalArgumentException("the memory is attached to no server; attach " + resilience.splits()
                    + " or more, each of a failure domain of its own");
        }
        long slabBytes = servers.stream()
                .mapToLong(server -> server.description().regionBytes())
                .min()
                .orElse(Long.MAX_VALUE);
        if (slabBytes < resilience.splitBytes()) {
            throw new IllegalArgumentException("regions of " + slabBytes + " bytes, smaller than a split of "
                    + resilience.splitBytes() + "; take pages of at most "
                    + slabBytes / Resilience.SPLIT_UNIT * Resilience.SPLIT_UNIT * resilience.dataSplits() + " bytes");
        }
        long rangeBytes = slabBytes / resilience.splitBytes() * resilience.pageBytes();
        int ranges = ranges(bytes, rangeBytes, resilience);
        SlabPlacement placement = new SlabPlacement(domains);
        List<Slab> slabs = placement.takeAll(servers, resilience, 0, ranges, _ -> false, _ -> 0);
        try (CloseStack opened = new CloseStack()) {
            slabs.forEach(slab -> opened.add(() -> memory.release(slab.region())));
            AtomicReference<@Nullable SlabKeeper> keeper = new AtomicReference<>();
            SlabTable table = new SlabTable(resilience, slabs);
            SpaceState space = new SpaceState(memory, resilience, table, slabBytes, () -> {
                SlabKeeper known = keeper.get();
                if (known != null) {
                    known.wake();
                }
            });
            SlabKeeper made = opened.add(new SlabKeeper(space, placement));
            keeper.set(made);
            CodedSpace coded = new CodedSpace(space, placement, made);
            made.watch(opened.add(new HealthWatch(space, coded::health, listener)));
            made.start();
            FlightRecorder.addPeriodicEvent(ResilienceStatisticsEvent.class, coded.statistics);
            opened.keep();
            return coded;
        }
    }

    /**
     * How many ranges of {@code rangeBytes} hold {@code bytes}; by division, as the product of large slabs overflows.
     */
    static int ranges(long bytes, long rangeBytes, Resilience resilience) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a space of " + bytes + " bytes; it has at least 1");
        }
        long ranges = (bytes - 1) / rangeBytes + 1;
        int most = Integer.MAX_VALUE / resilience.splits();
        if (ranges > most) {
            throw new IllegalArgumentException("a space of " + bytes + " bytes has " + ranges + " ranges of "
                    + rangeBytes + "; it has at most " + most + ", take larger regions or a smaller capacity");
        }
        return (int) ranges;
    }

    /** The code and the promises that the space was created with. */
    public Resilience resilience() {
        return space.resilience;
    }

    /** The size of the space in bytes, a multiple of a range's. */
    public long capacity() {
        return space.capacity();
    }

    /** Bytes of a slab. */
    public long slabBytes() {
        return space.slabBytes();
    }

    /** Opens a session with {@value #USUAL_REQUESTS} requests between issue and callback at most. */
    public CodedSession openSession() {
        return openSession(USUAL_REQUESTS);
    }

    /**
     * Opens a session, which one thread at a time uses, and which must be closed before the space.
     *
     * @param requests between issue and callback at most, a power of two
     * @throws IllegalArgumentException if {@code requests} is not a power of two
     * @throws IllegalStateException if the space is closed
     */
    public CodedSession openSession(int requests) {
        return openSession(requests, connect());
    }

    /**
     * The part of opening a session that waits for servers, as long as these take to answer. The space may be closed
     * meanwhile.
     *
     * @return for {@link #openSession(int, RemoteQueue)}
     * @throws IllegalStateException if the space is closed
     */
    public RemoteQueue connect() {
        if (closed) {
            throw closedAlready();
        }
        return CodedSession.connect(space);
    }

    /**
     * The rest of {@link #openSession(int)}, which waits for no server.
     *
     * @param connected the session's from now on; closed if this throws
     */
    public CodedSession openSession(int requests, RemoteQueue connected) {
        try {
            if (Integer.bitCount(requests) != 1) {
                throw new IllegalArgumentException(requests + " requests; it must be a power of two");
            }
            countSession();
        } catch (Throwable e) {
            Closeables.after(e, connected);
            throw e;
        }
        try {
            return new CodedSession(
                    space, connected, requests, ThreadLocalRandom.current().nextLong());
        } catch (Throwable e) {
            space.open.decrementAndGet();
            throw e;
        }
    }

    private synchronized void countSession() {
        if (closed) {
            throw closedAlready();
        }
        space.open.incrementAndGet();
    }

    private static IllegalStateException closedAlready() {
        return new IllegalStateException("the space is closed; sessions are opened before");
    }

    /** Describes the slab that holds a split of the page at an address now, for display. */
    public String placeOf(long address, int split) {
        long page = address / space.resilience.pageBytes();
        return space.table.slab((int) (page / space.pagesPerSlab), split).toString();
    }

    /** The number of slabs. They are numbered range by range. */
    public int slabs() {
        return space.table.ranges() * space.table.splits();
    }

    /** The server of a slab, from 0 to {@link #slabs}, exclusive. */
    public RemoteServer serverOf(int slab) {
        java.util.Objects.checkIndex(slab, slabs());
        return space.table
                .slab(slab / space.table.splits(), slab % space.table.splits())
                .region()
                .server();
    }

    /** How many slabs are at a server, or were there and have no successor yet, but for those of lost ranges. */
    public int slabsAt(RemoteServer server) {
        return space.table.placesAt(server);
    }

    /** As {@link #slabsAt}, with those of lost ranges: the slabs that are lost if the server is. */
    public int lostWith(RemoteServer server) {
        return space.table.namedAt(server);
    }

    Slab slab(int range, int split) {
        return space.table.slab(range, split);
    }

    /** Lets servers regenerate small slabs too: for tests. */
    void leaveToServers() {
        space.leastForServers = 0;
    }

    /** Sets how long a close waits: for tests. */
    void closeWithin(long nanos) {
        space.closeNanos = nanos;
    }

    /** Whether writes of closed sessions continue: for tests. */
    boolean hasUnfinished() {
        return !space.unfinished.isEmpty();
    }

    /** The errors that were met at a server: for tests. */
    ServerErrorCounts record(RemoteServer server) {
        return space.record(server);
    }

    /** The stripe words: for tests, which keep writers out. */
    StripeWords words() {
        return space.words;
    }

    /** Gives a slab up as the keeper does if its content is in doubt. */
    void giveUp(Slab slab) {
        space.table.giveUp(slab);
        keeper.wake();
    }

    /** The servers of the slabs of a range that are not void now. */
    public List<RemoteServer> serversOf(int range) {
        return java.util.stream.IntStream.range(0, space.table.splits())
                .mapToObj(split -> space.table.slab(range, split))
                .filter(slab -> !slab.isVoid())
                .map(slab -> slab.region().server())
                .toList();
    }

    /**
     * Moves all slabs off a server while the space is used, so that the server can be detached. Each slab is
     * regenerated elsewhere from the others of its range while all those are good; the range has one slab too few
     * meanwhile. If the server is lost before the end, that is a loss like any other.
     *
     * @param moved is run after each slab that has moved, on this thread
     * @throws IllegalStateException if a slab has no other place, a range can spare none, or there was no progress for
     *     a minute. Slabs that have moved stay where they are
     */
    public void retire(RemoteServer server, Runnable moved) {
        changes.lock();
        try {
            new ServerRetirement(space, keeper, placement).run(server, moved);
        } finally {
            changes.unlock();
        }
    }

    /**
     * Makes the space larger while it is used: takes more ranges, from the servers with the fewest slabs in free
     * domains. No request waits. The new ranges are zero. If a server is being retired, waits for that first.
     *
     * @param bytes that it is to have in all, rounded up to whole ranges; nothing changes if it has as many
     * @throws IllegalArgumentException if too few domains have room. Nothing has changed then
     * @throws ControlException if a server does not answer. Nothing has changed then
     * @throws IllegalStateException if the space is closed
     */
    public void grow(long bytes) {
        changes.lock();
        try {
            long rangeBytes = space.pagesPerSlab * space.resilience.pageBytes();
            int before = space.table.ranges();
            int more = ranges(bytes, rangeBytes, space.resilience) - before;
            if (more > 0) {
                List<Slab> slabs = placement.takeAll(
                        space.memory.servers(), space.resilience, before, more, this::isNoPlace, space.table::slabsOf);
                append(slabs);
            }
        } finally {
            changes.unlock();
        }
    }

    /** Called before each server is asked, so that a close of the space does not wait for all of them. */
    private boolean isNoPlace(RemoteServer server) {
        requireGrowing();
        return keeper.isNoPlace(server);
    }

    private void requireGrowing() {
        if (closed) {
            throw new IllegalStateException("the space is closed; it does not grow any more");
        }
    }

    private void append(List<Slab> slabs) {
        try (CloseStack taken = new CloseStack()) {
            slabs.forEach(slab -> taken.add(() -> space.memory.release(slab.region())));
            slabs.stream().map(slab -> slab.region().server()).distinct().forEach(space.memory::connectQueues);
            synchronized (this) {
                requireGrowing();
                space.table.append(slabs);
            }
            taken.keep();
        }
    }

    /** The state of its slabs and servers, and how many failures it survives now. */
    public Health health() {
        SlabTable.SlabCensus census = space.table.census(space.memory::servers);
        int slabs = census.slabs();
        int spare = census.least() - space.resilience.dataSplits();
        List<Health.Server> servers = census.servers().stream()
                .map(server -> {
                    ServerErrorCounts record = space.record(server);
                    return new Health.Server(
                            server.address(),
                            placement.domain(server),
                            census.byServer().getOrDefault(server, 0),
                            census.lost().contains(server),
                            record.suspect,
                            record.asked.sum(),
                            record.wrong.sum() + record.doubted.sum(),
                            record.failed.sum(),
                            record.late.sum());
                })
                .toList();
        return new Health(
                slabs,
                census.good(),
                slabs - census.good() - census.voids(),
                census.voids(),
                mayLose(spare),
                mayBeCorrupt(spare),
                servers,
                space.counts.sum(),
                keeper.regenerated(),
                keeper.evicted(),
                keeper.bytesRead(),
                keeper.bytesRebuilt(),
                keeper.bytesRebuiltByServers(),
                keeper.trouble());
    }

    /** EC-only promises to survive none: a write may have completed when only k of its splits were there. */
    private int mayLose(int spare) {
        return space.resilience.mode() == Resilience.Mode.EC_ONLY ? Math.min(spare, 0) : spare;
    }

    private int mayBeCorrupt(int spare) {
        int delta = space.resilience.additional();
        return switch (space.resilience.mode()) {
            case CORRUPTION_DETECTION -> Math.clamp(spare, 0, delta);
            case CORRUPTION_CORRECTION -> Math.clamp((spare - 1) / 2, 0, delta);
            default -> 0;
        };
    }

    /**
     * Announces that all sessions will be closed one after the other: from now on they wait ten seconds together for
     * their outstanding operations, and not ten seconds each. Does not wait.
     */
    public void beginClosing() {
        space.beginClosing();
    }

    /**
     * Stops the background thread and gives all slabs back. Idempotent. Sessions are closed first.
     *
     * @throws IllegalStateException if sessions are open; nothing is closed then
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        int open = space.open.get();
        if (open > 0) {
            throw new IllegalStateException(
                    open + " sessions of the space are open; close them first, and then the space");
        }
        closed = true;
        FlightRecorder.removePeriodicEvent(statistics);
        space.unfinished.close();
        keeper.close();
        for (int range = 0; range < space.table.ranges(); range++) {
            for (int split = 0; split < space.table.splits(); split++) {
                Slab slab = space.table.slab(range, split);
                giveBack(slab.region());
            }
        }
    }

    private void emitStatistics() {
        new ResilienceStatisticsEvent().emit(space.memory.name(), health());
    }

    private void giveBack(RemoteRegion region) {
        try {
            if (region.server().lost() == null) {
                region.server().fenceForgotten();
                space.memory.release(region);
            }
        } catch (IllegalStateException | ControlException e) {
            // The server frees it when the lease ends.
        }
    }
}
