package faces;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Status;
import io.farheap.control.ControlException;
import io.farheap.control.SpaceKey;
import io.farheap.kv.FarMap;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.policy.Policies;
import io.farheap.latency.LatencyTracking;
import io.farheap.manager.Quota;
import io.farheap.manager.client.ManagerConnection;
import io.farheap.metrics.CacheMetrics;
import io.farheap.migration.MigrationOptions;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.builtin.BuiltIns;
import io.farheap.remote.QueueOptions;
import io.farheap.remote.RegisteredBuffer;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.Outcome;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.contract.Resilience;
import io.farheap.rpc.RpcHandler;
import io.farheap.server.MemoryServer;
import io.farheap.server.contract.ServerOptions;
import io.farheap.slo.Configuration;
import io.farheap.store.BlockingStoreSession;
import io.farheap.store.FarStore;
import io.farheap.store.StoreSession;
import io.farheap.store.contract.StoreStatus;
import io.farheap.thread.idle.Idle;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.device.Device;
import io.farheap.verbs.Devices;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Every face of the library, from a module that sees nothing else of it. */
public final class Main {

    private static final long REGION = 1 << 20;

    public static void main(String[] arguments) throws Exception {
        System.out.println("devices: " + Devices.list().size() + " of " + Devices.library());
        RpcHandler twice = (held, given, reply) -> {
            reply.setLong(0, 2 * given.getLong(0));
            return Long.BYTES;
        };
        try (MemoryServer server =
                MemoryServer.start(new ServerOptions(16 * REGION, REGION, 30_000_000_000L, "", "faces"), "127.0.0.1:0")) {
            server.register(7, twice);
            cache(server.address());
            map(server.address());
            remote(server.address());
        }
        store();
        System.out.println(String.join(
                " ",
                "procedures " + BuiltIns.ALL.size() + " " + CallStatus.class.getSimpleName(),
                "contracts " + List.of(Status.OK, KvStatus.DONE, StoreStatus.DONE, Device.class, CodedSpace.class).size(),
                "policies " + Policies.names(),
                "resilience " + Resilience.failureRecovery(4, 2),
                "configuration " + new Configuration(1, 0, 1, 16),
                "idle " + Idle.PARK,
                "key " + SpaceKey.of("faces", "not a secret"),
                "quota " + Quota.NONE));
        try (ManagerConnection _ = ManagerConnection.open(List.of())) {
            throw new AssertionError("a connection to no manager");
        } catch (ControlException e) {
            System.out.println(e.code());
        }
        System.out.println("every face was used");
    }

    private static void cache(String address) {
        try (Cache cache = Cache.builder()
                        .capacity(2 * REGION)
                        .servers(address)
                        .trackLatency(LatencyTracking.SAMPLED)
                        .migration(MigrationOptions.DEFAULT)
                        .create();
                CacheSession session = cache.openSession();
                Buffer buffer = cache.allocate(64)) {
            new CacheMetrics(cache).bindTo(new SimpleMeterRegistry());
            buffer.segment().set(JAVA_LONG, 0, 42);
            session.writeBlocking(500_000, buffer, 0, 8);
            session.readBlocking(500_000, buffer, 8, 8);
            same(42, buffer.segment().get(JAVA_LONG, 8));
        }
    }

    private static void map(String address) throws Exception {
        try (FarMap map = FarMap.builder()
                        .name("faces")
                        .token("not a secret")
                        .servers(address)
                        .memory(8 * REGION)
                        .objects(1_000)
                        .create();
                var session = map.openFutureSession()) {
            session.set(new byte[] {1}, new byte[] {2}, 0).get();
            same(2, session.get(new byte[] {1}).get()[0]);
        }
    }

    private static void remote(String address) throws Exception {
        try (RemoteMemory memory = RemoteMemory.open("", "faces")) {
            RemoteRegion region = memory.allocate(memory.attach(address), 1).getFirst();
            RegisteredBuffer buffer = memory.register(64);
            RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
            queue.fetchAndAdd(region, 0, 1, buffer, 0, 7);
            int[] ended = {-1};
            while (queue.poll((tag, outcome) -> ended[0] = outcome) == 0) {
                queue.await(1_000_000);
            }
            same(Outcome.DONE, ended[0]);
        }
    }

    private static void store() {
        try (MemoryDevice device = new MemoryDevice(1 << 20, 4096);
                FarStore store = FarStore.builder().device(device).memory(8 << 20).open();
                StoreSession session = store.openSession();
                Arena arena = Arena.ofConfined()) {
            BlockingStoreSession blocking = new BlockingStoreSession(session);
            MemorySegment value = arena.allocate(8);
            value.set(JAVA_LONG, 0, 43);
            blocking.upsert(1, value, 0, 8);
            value.set(JAVA_LONG, 0, 0);
            blocking.read(1, value, 0, 8);
            same(43, value.get(JAVA_LONG, 0));
        }
    }

    private static void same(long expected, long actual) {
        if (expected != actual) {
            throw new AssertionError(actual + ", and not " + expected);
        }
    }
}
