package io.farheap.resilience;

import io.farheap.control.ServerStatus;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.FakeMachine;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.DeviceFaults;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** Memory servers in this process, each a failure domain, and a client that is attached to all of them. */
public final class CodedServers implements AutoCloseable {

    static final long REGION_BYTES = 64 * 1024;
    /** Longer than a busy machine keeps any thread waiting, so that only killed servers are lost. */
    private static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);

    private final List<MemoryServer> servers = new ArrayList<>();
    private final List<FakeMachine> machines = new ArrayList<>();
    private final List<ControlServer> controls = new ArrayList<>();
    private final List<Integer> dead = new ArrayList<>();
    final RemoteMemory memory = RemoteMemory.open(TestDevice.client(), "test");
    public final List<RemoteServer> attached = new ArrayList<>();

    private final long leaseNanos;
    private final boolean headroom;
    private final UnaryOperator<ControlPlane> before;
    private boolean onDevices;

    public CodedServers(int count, int regions) {
        this(count, regions, LEASE_NANOS);
    }

    CodedServers(int count, int regions, long leaseNanos) {
        this(count, regions, leaseNanos, false, UnaryOperator.identity());
    }

    private CodedServers(
            int count, int regions, long leaseNanos, boolean headroom, UnaryOperator<ControlPlane> before) {
        this.before = before;
        this.leaseNanos = leaseNanos;
        this.headroom = headroom;
        for (int i = 0; i < count; i++) {
            add(regions);
        }
    }

    /** Servers on a softverbs device each, for {@link #faults}; no server can be added. */
    static CodedServers onDevices(int count, int regions) {
        Softverbs.devices(count + 1);
        CodedServers servers = new CodedServers(0, regions);
        servers.onDevices = true;
        for (int i = 0; i < count; i++) {
            servers.add(regions, device(i));
        }
        return servers;
    }

    /** The faults of one server's device. */
    DeviceFaults faults(RemoteServer server) {
        return DeviceFaults.of(device(indexOf(server)));
    }

    private static String device(int server) {
        return "soft" + (server + 1);
    }

    /** Servers on a machine each, which has memory to spare until a test changes that. */
    static CodedServers withHeadroom(int count, int regions) {
        return new CodedServers(count, regions, LEASE_NANOS, true, UnaryOperator.identity());
    }

    /** Servers whose control planes answer through another one. */
    static CodedServers behind(UnaryOperator<ControlPlane> before, int count, int regions) {
        return new CodedServers(count, regions, LEASE_NANOS, false, before);
    }

    RemoteServer add(int regions) {
        return add(regions, TestDevice.server());
    }

    private RemoteServer add(int regions, String device) {
        ServerOptions options =
                new ServerOptions(regions * REGION_BYTES, REGION_BYTES, leaseNanos, device, "coded" + servers.size());
        FakeMachine machine = new FakeMachine(REGION_BYTES, 64, regions);
        MemoryServer server = MemoryServer.open(headroom ? options.headroom(machine.headroom()) : options);
        machine.runs(Planes.of(server));
        machines.add(machine);
        servers.add(server);
        controls.add(ControlServer.start("127.0.0.1:0", before.apply(Planes.of(server))));
        attached.add(memory.attach(controls.getLast().address()));
        return attached.getLast();
    }

    CodedSpace space(Resilience resilience, long bytes) {
        return CodedSpace.create(memory, resilience, bytes, RemoteServer::address);
    }

    /** The server no longer answers calls; its memory can still be reached. */
    void silence(int server) {
        controls.get(server).close();
    }

    /** Ends a server; its clients are not notified. */
    void kill(int server) {
        if (!dead.contains(server)) {
            dead.add(server);
            controls.get(server).close();
            servers.get(server).close();
        }
    }

    /** Whether all slabs are good, and no slab is on a killed server. */
    boolean whole(CodedSpace space) {
        Health health = space.health();
        return health.whole()
                && dead.stream().allMatch(server -> health.servers().stream()
                        .noneMatch(known -> known.slabs() > 0
                                && known.address().equals(attached.get(server).address())));
    }

    int indexOf(RemoteServer server) {
        return attached.indexOf(server);
    }

    FakeMachine machine(int server) {
        return machines.get(server);
    }

    ServerStatus status(int server) {
        return servers.get(server).describe();
    }

    int freeRegions(int server) {
        return servers.get(server).description().freeRegions();
    }

    /** @throws AssertionError if the condition does not hold within a time that suits the machine */
    static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("waited too long for: " + what);
            }
            // Testing the condition without a pause would take a processor from the threads that it waits for.
            LockSupport.parkNanos(1_000_000);
        }
    }

    @Override
    public void close() {
        memory.close();
        for (int i = 0; i < servers.size(); i++) {
            kill(i);
        }
        if (onDevices) {
            Softverbs.devices(1);
        }
    }
}
