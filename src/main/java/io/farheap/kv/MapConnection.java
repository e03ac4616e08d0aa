package io.farheap.kv;

import io.farheap.kv.elastic.LostServerRemoval;
import io.farheap.kv.elastic.MapGrowth;
import io.farheap.kv.elastic.SegmentEmptier;
import io.farheap.kv.elastic.ServerDrain;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.replacement.Replacements;
import io.farheap.kv.session.MapCountTotals;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.SessionCounter;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.kv.space.TableReader;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/**
 * One registration of a process with a map's servers: its leases, and all that it knows of the map under them. If a
 * lease is lost, the process registers again, as another one, so nothing that it knew or held under the old leases
 * matters any more: the servers treat that as they treat a process that has ended. Any thread.
 */
final class MapConnection implements EngineConnection {

    final RemoteMemory memory;
    final MapServers servers;
    final SpaceMemory space;
    final MapClock clock;
    final EvictionSettings policy;
    final MapKeeper keeper;
    final PointerCache pointers;
    final MapGrowth growth;
    final SegmentEmptier emptier;
    private final LostServerRemoval removal;
    private final Supplier<MapRequests> moving;
    private volatile boolean ended;

    /**
     * @param memory closed with this, as are the keeper and the pointers
     * @param found is run when the map must be opened again, as a server answers that was lost when it was opened
     * @param sessions opens a session of this connection that moves objects
     */
    MapConnection(
            RemoteMemory memory,
            MapServers servers,
            SpaceMemory space,
            MapClock clock,
            EvictionSettings policy,
            MapKeeper keeper,
            PointerCache pointers,
            Runnable found,
            MapSessionOpener sessions) {
        this.pointers = pointers;
        this.memory = memory;
        this.servers = servers;
        this.space = space;
        this.clock = clock;
        this.policy = policy;
        this.keeper = keeper;
        growth = new MapGrowth(keeper.tasks(), servers, space, keeper::usedByAll);
        moving = () -> sessions.open(this);
        emptier = new SegmentEmptier(memory, space, keeper.tasks(), moving);
        removal = new LostServerRemoval(servers, space, growth, this::drain, found);
        keeper.afterSessions(this::closeUnused);
    }

    @Override
    public String name() {
        return servers.key().name();
    }

    @Override
    public List<String> experts() {
        return Replacements.expertNames(policy.name());
    }

    @Override
    public void succeeds() {
        pointers.besideAnother();
    }

    @Override
    public void isAlone() {
        pointers.isAlone();
    }

    /** Begins to use it: from now on it also empties segments, and takes lost servers out. */
    @Override
    public void start() {
        keeper.emptiesBy(emptier::ask);
        removal.start();
    }

    /** A way to take a server out. */
    ServerDrain drain() {
        return new ServerDrain(servers, space, keeper.tasks(), growth, moving);
    }

    @Override
    public MapRequests session(int requests, MapCountTotals tally) {
        return session(requests, pointers, tally);
    }

    MapRequests session(int requests, PointerCache with, MapCountTotals tally) {
        return new MapRequests(
                memory, space, clock, policy, requests, () -> SessionCounter.next(memory, space), keeper, with, tally);
    }

    @Override
    public MapStats stats() {
        try (TableReader reader = new TableReader(memory, space)) {
            return MapStats.of(reader, space, keeper.segmentsTaken(), keeper.emptied()[0]);
        }
    }

    @Override
    public List<String> servers() {
        return servers.all().stream().map(each -> each.address()).toList();
    }

    /** Opens a session of a connection. */
    interface MapSessionOpener {
        MapRequests open(MapConnection of);
    }

    @Override
    public boolean hasLostLease() {
        return removal.answers()
                || servers.all().stream().anyMatch(each -> each.line().lost());
    }

    @Override
    public List<String> addresses() {
        // The map says where those are that have joined, and when it can be opened without one.
        return servers.all().stream()
                .filter(each -> each.number() < space.layout().madeOn())
                .sorted(Comparator.comparing(each -> !each.line().lost()))
                .map(each -> each.address())
                .toList();
    }

    @Override
    public boolean isOfMapOf(EngineConnection other) {
        return other instanceof MapConnection same && same.descriptor().belongsTo(descriptor());
    }

    private MapDescriptor descriptor() {
        return MapDescriptor.decode(servers.first().space().descriptor(), "the map");
    }

    /**
     * {@inheritDoc} A thread that closes this meanwhile waits, as the keeper uses the memory until it has left the map.
     */
    @Override
    public synchronized void end() {
        // A server that is no longer asked about this process must not be left before.
        pointers.stop();
        space.beginEnd();
        Closeables.all(
                removal,
                keeper,
                () -> Closeables.all(memory.servers().stream()
                        .map(server -> (AutoCloseable) () -> memory.detach(server))
                        .toList()),
                space::end,
                emptier,
                () -> {
                    ended = true;
                    closeUnused();
                });
    }

    @Override
    public boolean isUnused() {
        return ended && !keeper.hasSessions();
    }

    private void closeUnused() {
        if (isUnused()) {
            Closeables.all(memory, pointers);
        }
    }

    @Override
    public List<AutoCloseable> drops() {
        pointers.stop();
        List<AutoCloseable> ends = new ArrayList<>();
        ends.add(removal);
        ends.add(emptier);
        ends.add(keeper::drop);
        servers.all().forEach(each -> ends.add(each.space()::drop));
        ends.add(memory);
        ends.add(pointers);
        return ends;
    }

    @Override
    public synchronized void close() {
        pointers.stop();
        Closeables.all(removal, emptier, keeper, memory, pointers);
    }
}
