package io.farheap.cache;

import io.farheap.control.ServerStatus;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.budget.Budget;
import io.farheap.server.budget.Budgets;
import io.farheap.server.contract.ServedCode;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import io.farheap.thread.idle.Idle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Memory servers in this process, reached over the loopback interface. */
public final class Cluster implements AutoCloseable {

    public static final long REGION_BYTES = 64 * 1024;
    /** Longer than a busy machine keeps any thread waiting. */
    private static final long LEASE_NANOS = TestDevice.patience(30_000_000_000L);

    private record Node(MemoryServer memory, ControlServer control) {}

    private final List<Node> nodes = new ArrayList<>();
    private ServedCode procedures = ServedCode.BUILT_IN;
    private final PullGate pulls = new PullGate();

    private UnaryOperator<ControlPlane> before = UnaryOperator.identity();
    private int threads = ServerOptions.defaultThreads();

    /** @param regions how many regions each of the servers has */
    public Cluster(int... regions) {
        for (int count : regions) {
            add(count);
        }
    }

    /** The servers that are added from now on run these procedures. */
    Cluster serving(ServedCode whose) {
        procedures = whose;
        return this;
    }

    /** The servers that are added from now on have this number of threads. */
    Cluster threads(int each) {
        threads = each;
        return this;
    }

    /** The servers that are added from now on are called through a control plane of the test. */
    Cluster behind(UnaryOperator<ControlPlane> what) {
        before = what;
        return this;
    }

    /** @return the new server's address */
    public String add(int regions) {
        return add(regions, TestDevice.server());
    }

    /** @return the address of a new server, whose leases are short if a test waits for their end */
    public String add(int regions, long leaseNanos) {
        return add(regions, TestDevice.server(), leaseNanos);
    }

    /** @return the address of a new server on a device */
    String add(int regions, String device) {
        return add(regions, device, LEASE_NANOS);
    }

    private String add(int regions, String device, long leaseNanos) {
        MemoryServer memory = MemoryServer.open(new ServerOptions(
                        regions * REGION_BYTES, REGION_BYTES, leaseNanos, device, "test", threads, true, Idle.PARK)
                .procedures(procedures));
        try {
            nodes.add(new Node(
                    memory, ControlServer.start("127.0.0.1:0", before.apply(pulls.before(Planes.of(memory))))));
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
        return address(nodes.size() - 1);
    }

    public String address(int server) {
        return nodes.get(server).control().address();
    }

    public List<String> addresses() {
        return nodes.stream().map(node -> node.control().address()).toList();
    }

    /** @return the gate at which a test can stop migrations to the cluster's servers */
    PullGate pulls() {
        return pulls;
    }

    /** @return the status that the server reports */
    ServerStatus status(int server) {
        return nodes.get(server).memory().describe();
    }

    /** Lends all memory of procedures that a server has left, to no client in particular. */
    Budget.Loan lendAllOfProcedures(int server) {
        Object plane = Fields.get(nodes.get(server).memory(), "plane", Object.class);
        Budget calls = Fields.get(plane, "budgets", Budgets.class).callBytes();
        return calls.lend(null, null, calls.all() - calls.lent());
    }

    public int freeRegions(int server) {
        return nodes.get(server).memory().description().freeRegions();
    }

    /** Ends a server, which does not notify its clients. */
    public void stop(int server) {
        nodes.get(server).control().close();
        nodes.get(server).memory().close();
    }

    @Override
    public void close() {
        pulls.open();
        for (int server = 0; server < nodes.size(); server++) {
            stop(server);
        }
    }
}
