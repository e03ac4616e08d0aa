package io.farheap.kv;

import io.farheap.control.SpaceKey;
import io.farheap.kv.contract.MapDrain;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.leased.client.ClientAreas;
import io.farheap.kv.leased.client.LeasedMembership;
import io.farheap.kv.leased.client.LeasedPointers;
import io.farheap.kv.leased.client.LeasedSession;
import io.farheap.kv.leased.client.LeasedSpace;
import io.farheap.kv.leased.client.ShardCensus;
import io.farheap.kv.leased.client.ShardMigration;
import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ShardShape;
import io.farheap.kv.leased.format.ShardTotals;
import io.farheap.kv.session.EngineSession;
import io.farheap.kv.session.MapCountTotals;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.ByteSize;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteSpace;
import io.farheap.remote.contract.RemoteServer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/**
 * A process's registration with the servers of a leased map. Its pointers belong to it: under other leases the process
 * has other ones. Any thread.
 */
final class LeasedConnection implements EngineConnection {

    /** A server has memory for as many requests of a session, at least. */
    private static final int LEAST_PLACES = 16;

    private final RemoteMemory memory;
    private final SpaceKey key;
    private final LeasedSpace space;
    private final LeasedMembership membership;
    private final LeasedPointers pointers;
    private final String without;
    private final ClientAreas areas;
    private final LongSupplier leaseClock;
    /** The numbers that sessions have. */
    private final BitSet numbers = new BitSet();

    /** By number: how many requests the last session of that number has or had, for which servers have memory. */
    private final int[] places = new int[LeasedCalls.MOST_SESSIONS];

    private long opened;
    private int sessions;
    private boolean ended;
    private boolean closed;

    /**
     * @param memory closed with this, as are the membership and the pointers
     * @param without a server that is lost for good, without which the process has opened the map; empty if there is
     *     none
     * @param leaseClock by which leases are counted here, in ns
     */
    LeasedConnection(
            RemoteMemory memory,
            SpaceKey key,
            LeasedSpace space,
            LeasedMembership membership,
            LeasedPointers pointers,
            String without,
            LongSupplier leaseClock) {
        this.memory = memory;
        this.key = key;
        this.space = space;
        this.membership = membership;
        this.pointers = pointers;
        this.without = without;
        this.leaseClock = leaseClock;
        areas = new ClientAreas(memory, space);
    }

    /** Takes a server out of the map. Its objects are not moved. */
    MapDrain drain(String hostPort) {
        if (hostPort.equals(without) && !servers().contains(hostPort)) {
            // It was replaced when the map was opened: what it had is lost.
            return new MapDrain(0, 0, 0, 0);
        }
        long evicted = new ShardMigration(memory, key, space).leave(hostPort);
        return new MapDrain(evicted, 0, evicted, 0);
    }

    /** Has all servers account for their blocks. */
    MapAudit audit() {
        return MapAudit.of(space.audit(memory));
    }

    /** Has a server join. */
    void join(String hostPort, long bytes) {
        long regionBytes = space.map().regionBytes();
        long most = (ShardShape.MOST_SHARDS / space.map().shape().perRegion()) * regionBytes;
        if (bytes < 1 || bytes > most) {
            throw new IllegalArgumentException("a map that grows by " + ByteSize.text(bytes)
                    + "; this one grows by 1 byte to " + ByteSize.text(most));
        }
        new ShardMigration(memory, key, space).join(hostPort, Math.toIntExact(Math.ceilDiv(bytes, regionBytes)));
    }

    /** Sessions write their reports of READs into memory of this process's at the servers, instead of sending them. */
    LeasedConnection writingReports(boolean write) {
        areas.writeReports(write);
        return this;
    }

    @Override
    public String name() {
        return space.spaces().getFirst().name();
    }

    @Override
    public List<String> experts() {
        return List.of();
    }

    @Override
    public void succeeds() {
        // Pointers count under leases that servers give.
    }

    @Override
    public void isAlone() {
        // Nothing waits for this.
    }

    @Override
    public void start() {
        membership.start();
    }

    @Override
    public EngineSession session(int requests, MapCountTotals tally) {
        int number;
        long name;
        synchronized (this) {
            if (ended || closed) {
                throw new IllegalStateException(
                        "this connection to the map " + name() + " has ended: open the map again");
            }
            number = numbers.nextClearBit(0);
            if (number == LeasedCalls.MOST_SESSIONS) {
                throw new MapException("a process with more than " + LeasedCalls.MOST_SESSIONS
                        + " sessions of a leased map; close some, or let threads share them");
            }
            reserve(number, requests);
            numbers.set(number);
            sessions++;
            name = LeasedCalls.session(number, ++opened);
        }
        Runnable onClose = () -> sessionClosed(number);
        EngineSession session = null;
        try {
            session = new LeasedSession(memory, space, name, pointers, areas, requests, tally, leaseClock, onClose);
            return session;
        } finally {
            if (session == null) {
                sessionClosed(number);
            }
        }
    }

    /** Servers keep the last answer of each request of a session, until a later session has its number. */
    private void reserve(int number, int requests) {
        long others = 0;
        for (int each = 0; each < places.length; each++) {
            others += each == number ? 0 : places[each];
        }
        int more = Math.max(requests, LEAST_PLACES);
        if (others + more > LeasedCalls.MOST_PLACES) {
            throw new MapException("a session of " + requests + " requests in a process whose other sessions of the map"
                    + " have " + others + "; all together have at most " + LeasedCalls.MOST_PLACES
                    + ": close some, or open them with fewer");
        }
        places[number] = more;
    }

    private void sessionClosed(int number) {
        synchronized (this) {
            numbers.clear(number);
            sessions--;
        }
        closeUnused();
    }

    @Override
    public MapStats stats() {
        ShardTotals totals = ShardCensus.of(memory, space);
        ShardShape shape = space.map().shape();
        return new MapStats(
                space.spaces().stream().mapToInt(each -> each.regions().size()).sum(),
                space.map().regionBytes(),
                totals.shards() * shape.entries(),
                totals.objects(),
                0,
                totals.objectBytes(),
                totals.segmentBytes(),
                totals.usedBytes(),
                0);
    }

    @Override
    public List<String> servers() {
        return space.spaces().stream().map(each -> each.server().address()).toList();
    }

    @Override
    public boolean hasLostLease() {
        return lost().findAny().isPresent();
    }

    private Stream<RemoteServer> lost() {
        return space.spaces().stream().map(RemoteSpace::server).filter(server -> server.lost() != null);
    }

    @Override
    public List<String> addresses() {
        return Stream.concat(
                        lost().map(RemoteServer::address),
                        space.madeOn().stream().map(each -> each.server().address()))
                .distinct()
                .toList();
    }

    @Override
    public boolean isOfMapOf(EngineConnection other) {
        return other instanceof LeasedConnection same && same.space.map().belongsTo(space.map());
    }

    @Override
    public void end() {
        // A request in flight ends only when its call can no longer be carried out after one under the new leases.
        space.beginEnd();
        Closeables.all(
                membership,
                () -> Closeables.all(memory.servers().stream()
                        .map(server -> (AutoCloseable) () -> memory.detach(server))
                        .toList()),
                space::end,
                () -> {
                    synchronized (this) {
                        ended = true;
                    }
                    closeUnused();
                });
    }

    @Override
    public synchronized boolean isUnused() {
        return ended && sessions == 0;
    }

    /** A session that is opened meanwhile keeps it open, or is refused. */
    private void closeUnused() {
        synchronized (this) {
            if (closed || !isUnused()) {
                return;
            }
            closed = true;
        }
        closeAll();
    }

    @Override
    public List<AutoCloseable> drops() {
        List<AutoCloseable> ends = new ArrayList<>();
        space.spaces().forEach(each -> ends.add(each::drop));
        ends.add(this);
        return ends;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        closeAll();
    }

    private void closeAll() {
        // From now on servers may hear that this process uses the map no more.
        space.leave();
        Closeables.all(membership, memory, pointers);
    }
}
