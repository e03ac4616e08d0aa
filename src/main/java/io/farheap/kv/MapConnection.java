package io.farheap.kv;

import io.farheap.kv.elastic.MapGrowth;
import io.farheap.kv.elastic.SegmentEmptier;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.MapDescriptor;
import io.farheap.kv.keeper.MapKeeper;
import io.farheap.kv.keeper.MapServers;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.MapClock;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.SpaceMemory;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteMemory;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * One registration of a process with a map's servers: its leases, and all that it knows of the map under them. If a
 * lease is lost, the process registers again, as another one, so nothing that it knew or held under the old leases
 * matters any more: the servers treat that as they treat a process that has ended. Any thread.
 */
final class MapConnection implements AutoCloseable {

    final RemoteMemory memory;
    final MapServers servers;
    final SpaceMemory space;
    final MapClock clock;
    final EvictionSettings policy;
    final MapKeeper keeper;
    final PointerCache pointers;
    final MapGrowth growth;
    final SegmentEmptier emptier;
    private volatile boolean ended;

    /**
     * @param memory closed with this, as are the keeper and the pointers
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
            MapSessionOpener sessions) {
        this.pointers = pointers;
        this.memory = memory;
        this.servers = servers;
        this.space = space;
        this.clock = clock;
        this.policy = policy;
        this.keeper = keeper;
        growth = new MapGrowth(keeper.tasks(), servers, space, keeper::usedByAll);
        Supplier<MapRequests> moving = () -> sessions.open(this);
        emptier = new SegmentEmptier(memory, space, keeper.tasks(), moving);
        keeper.afterSessions(this::closeUnused);
    }

    /** Begins to use it: from now on it also empties segments. */
    void start() {
        keeper.emptiesBy(emptier::ask);
    }

    /** Opens a session of a connection. */
    interface MapSessionOpener {
        MapRequests open(MapConnection of);
    }

    /** Whether the lease on one of the servers is lost. */
    boolean hasLostLease() {
        return lostAddresses().findAny().isPresent();
    }

    /** The servers to name for opening the map again; those whose leases are lost first, as they may not answer. */
    List<String> addresses() {
        Stream<String> made = servers.all().stream()
                .filter(each -> each.number() < space.layout().madeOn())
                .map(each -> each.address());
        return Stream.concat(lostAddresses(), made).distinct().toList();
    }

    private Stream<String> lostAddresses() {
        return servers.all().stream().filter(each -> each.line().lost()).map(each -> each.address());
    }

    /** Whether the other one is of the same map. */
    boolean isOfMapOf(MapConnection other) {
        return other.descriptor().belongsTo(descriptor());
    }

    private MapDescriptor descriptor() {
        return MapDescriptor.decode(servers.first().space().descriptor(), "the map");
    }

    /**
     * Ends the leases, as another connection has taken the place of this one. Then requests in flight end as lost, and
     * the memory is closed when no session uses it any more. A thread that closes this meanwhile waits, as the keeper
     * uses the memory until it has left the map.
     */
    synchronized void end() {
        // A server that is no longer asked about this process must not be left before.
        pointers.stop();
        space.beginEnd();
        Closeables.all(
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

    /** Whether its leases have ended, and no session uses it. */
    boolean isUnused() {
        return ended && !keeper.hasSessions();
    }

    private void closeUnused() {
        if (isUnused()) {
            Closeables.all(memory, pointers);
        }
    }

    @Override
    public synchronized void close() {
        pointers.stop();
        Closeables.all(emptier, keeper, memory, pointers);
    }
}
