package io.farheap.kv.leased.server;

import io.farheap.kv.leased.format.LeasedCalls;
import io.farheap.kv.leased.format.ShardTotals;
import io.farheap.rpc.Arguments;
import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.Reply;
import io.farheap.rpc.RpcHandler;
import io.farheap.rpc.RpcHandlers;
import io.farheap.server.contract.ServedSpace;
import io.farheap.server.contract.ServedSpaces;
import io.farheap.server.contract.ServerOptions;
import io.farheap.server.contract.SpaceListener;
import io.farheap.server.service.ServerService;
import io.farheap.server.service.ServerWork;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The calls of {@link LeasedCalls} on one memory server, checked: any process with a lease may send any bytes. */
public final class LeasedServices implements ServerService, SpaceListener {

    private static final ThreadLocal<@Nullable ShardThread> OWN = new ThreadLocal<>();

    private final ServedMaps maps = new ServedMaps(this::startThreads);
    private volatile @Nullable ServedSpaces spaces;
    private Runnable startThreads = () -> {};

    @Override
    public void threads(Runnable startAll) {
        startThreads = startAll;
    }

    /** A map's shards are to have all threads. They cannot be started on one of these. */
    private void startThreads() {
        Thread.ofVirtual().name("farheap-shard-threads").start(startThreads);
    }

    @Override
    public void install(ServerOptions options, RpcHandlers handlers, ServedSpaces served) {
        spaces = served;
        served.listen(this);
        for (int kind = 0; kind < LeasedCalls.KEY_CALLS; kind++) {
            handlers.register(LeasedCalls.GET + kind, new KeyCalls(LeasedCalls.GET + kind));
        }
        handlers.register(LeasedCalls.REPORT, new KeyCalls(LeasedCalls.REPORT));
        handlers.register(LeasedCalls.REPORT_RING, new KeyCalls(LeasedCalls.REPORT_RING));
        handlers.register(LeasedCalls.TOTALS, (held, in, out) -> totals(served, held, in, out));
        new EditionServices(maps, served).install(handlers);
    }

    @Override
    public ServerWork work(Runnable wake) {
        ServedSpaces served = spaces;
        if (served == null) {
            throw new IllegalStateException("a thread of a server begins before its services are installed");
        }
        ShardThread thread = new ShardThread(maps, served, wake);
        OWN.set(thread);
        maps.add(thread);
        return thread;
    }

    private static final class KeyCalls implements RpcHandler {

        private final int operation;

        KeyCalls(int operation) {
            this.operation = operation;
        }

        @Override
        public RpcHandler onThread() {
            return own().handler(operation);
        }

        @Override
        public int execute(HeldRegions held, Arguments in, Reply out) {
            return own().execute(operation, held, in, out);
        }
    }

    private static ShardThread own() {
        ShardThread thread = OWN.get();
        if (thread == null) {
            throw new IllegalStateException("a call on a thread that serves none");
        }
        return thread;
    }

    private int totals(ServedSpaces served, HeldRegions held, Arguments in, Reply out) {
        ServedSpace space = served.find(in.getLong(LeasedCalls.SPACE));
        ServedShards shards = space == null || !space.openedBy(held.lease()) ? null : maps.shards(space);
        if (shards == null) {
            out.setLong(0, LeasedCalls.NO_MAP);
            return Long.BYTES;
        }
        long[] words = shards.totals().words();
        out.setLong(0, 0);
        for (int i = 0; i < words.length; i++) {
            out.setLong((1 + i) * Long.BYTES, words[i]);
        }
        return (1 + words.length) * Long.BYTES;
    }

    @Override
    public Map<String, Long> counters() {
        ShardTotals sum = maps.totals();
        Map<String, Long> named = new LinkedHashMap<>();
        named.put("maps.leased.objects", sum.objects());
        named.put("maps.leased.evicted", sum.evicted());
        named.put("maps.leases.given", sum.leases());
        named.put("maps.leases.renewed", sum.renewed());
        named.put("maps.leases.over", sum.over());
        named.put("maps.leases.denied", sum.denied());
        named.put("maps.reads.reported", sum.reported());
        named.put("maps.reads.capped", sum.capped());
        named.put("maps.reports.merged", sum.reports());
        named.put("maps.reports.written", sum.written());
        named.put("maps.blocks.marked.bytes", sum.markedBytes());
        named.put("maps.blocks.reclaimed.late", sum.reclaimedLate());
        named.put("maps.shards.rebuilt", sum.rebuilt());
        return named;
    }

    @Override
    public void openingEnded(long spaceId, long leaseId) {
        maps.ended(spaceId, leaseId);
    }

    @Override
    public void spaceEnded(long spaceId) {
        maps.ended(spaceId);
    }
}
