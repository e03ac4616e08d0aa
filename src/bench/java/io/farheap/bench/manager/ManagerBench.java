package io.farheap.bench.manager;

import io.farheap.bench.report.Rotation;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.manager.state.EmbeddedZooKeeper;
import io.farheap.manager.state.ZooKeeperStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;
import org.apache.zookeeper.KeeperException;

/** A manager in this process with servers and caches that only report. One thread. */
public final class ManagerBench implements AutoCloseable {

    /** The sides of a turn: the manager, and ZooKeeper alone in two ways. */
    static final int SIDES = 3;

    private static final int MANAGER = 0;
    private static final int SINGLES = 1;
    /** Between two ticks that are measured. */
    private static final long TICK_PAUSE_NANOS = 20_000_000;

    private final Rotation rotation;
    private final CloseStack opened = new CloseStack();
    private final SplittableRandom random = new SplittableRandom(1);
    private final EmbeddedZooKeeper zookeeper;
    private final HeartbeatLoad attendants;
    private final ZooKeeperWrites bare;
    private final int callers;
    private final byte[] record;
    private InProcessManager manager;

    /**
     * @param allocationsPerSecond through gRPC, by all callers together
     * @param cachesPerWrite caches allocated or given back in one of the manager's writes, on average
     * @param reportsPerSecond of servers, that the manager received meanwhile
     * @param zookeeperSingles bare writes a second, each a request of its own
     * @param zookeeperMultis bare writes a second, many in a request
     * @param nanos each allocation
     */
    public record Turn(
            double allocationsPerSecond,
            double deallocationsPerSecond,
            double cachesPerWrite,
            double reportsPerSecond,
            double zookeeperSingles,
            double zookeeperMultis,
            Histogram nanos) {

        /** Returns the better of ZooKeeper's two rates. */
        public double zookeeperWrites() {
            return Math.max(zookeeperSingles, zookeeperMultis);
        }
    }

    /**
     * Starts ZooKeeper and a manager on it; all of its servers have reported when this returns.
     *
     * @param directory for ZooKeeper's files, empty
     * @param processes number of client processes to which the caches belong
     * @param callers threads that ask for caches at the same time
     * @param turns that are wanted
     */
    public ManagerBench(Path directory, int servers, int caches, int processes, int callers, int turns)
            throws IOException, InterruptedException, KeeperException {
        this.callers = callers;
        rotation = rotation(turns);
        try {
            SyntheticCluster cluster = new SyntheticCluster(servers, caches);
            zookeeper = opened.add(EmbeddedZooKeeper.start(directory));
            try (ZooKeeperStore store = new ZooKeeperStore(zookeeper.connection())) {
                cluster.store(store);
            }
            bare = opened.add(new ZooKeeperWrites(zookeeper.connection()));
            attendants = opened.add(new HeartbeatLoad(cluster, processes));
            manager = new InProcessManager(zookeeper.connection());
            attendants.attend(manager.cluster());
            attendants.awaitAll();
            long first = AllocationCallers.newIds(random, 1)[0];
            manager.awaitAllocation(first);
            record = bare.record();
            manager.cluster().deallocate(first);
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    /** Returns how many turns to take if at least so many are wanted, so that their order favours no side. */
    static int turns(int wanted) {
        return Rotation.turns(SIDES, wanted);
    }

    /** Returns the order of the sides in so many wanted turns. */
    static Rotation rotation(int wanted) {
        return new Rotation(SIDES, turns(wanted));
    }

    /** Returns the bytes of a cache's record in ZooKeeper. */
    public int recordBytes() {
        return record.length;
    }

    /**
     * Allocates this many caches and gives them back, and writes as many nodes without a manager, in both ways; which
     * of the three is the first differs from turn to turn.
     *
     * @param number of the turn; negative in the warm-up
     */
    public Turn turn(int number, int count) throws InterruptedException, KeeperException {
        Managed managed = null;
        double singles = 0;
        double multis = 0;
        for (int side : rotation.order(number)) {
            switch (side) {
                case MANAGER -> managed = managed(count);
                case SINGLES -> singles = bare.single(count, record);
                default -> multis = bare.multi(count, record);
            }
        }
        Managed taken = Objects.requireNonNull(managed);
        return new Turn(
                taken.allocations().perSecond(),
                taken.deallocations().perSecond(),
                taken.cachesPerWrite(),
                taken.reportsPerSecond(),
                singles,
                multis,
                taken.allocations().nanos());
    }

    private record Managed(
            AllocationCallers.CallRates allocations,
            AllocationCallers.CallRates deallocations,
            double cachesPerWrite,
            double reportsPerSecond) {}

    private Managed managed(int count) throws InterruptedException, KeeperException {
        long[] ids = AllocationCallers.newIds(random, count);
        attendants.attendAlso(LongStream.of(ids).boxed().collect(Collectors.toSet()));
        try (AllocationCallers asking = new AllocationCallers(manager.address(), callers)) {
            long reported = attendants.reported();
            int written = bare.managersWrites();
            long started = System.nanoTime();
            AllocationCallers.CallRates allocations = asking.allocate(ids);
            AllocationCallers.CallRates deallocations = asking.deallocate(ids);
            double reports = (attendants.reported() - reported) / ((System.nanoTime() - started) / 1e9);
            double cachesPerWrite = 2.0 * count / Math.max(1, bare.managersWrites() - written);
            return new Managed(allocations, deallocations, cachesPerWrite, reports);
        }
    }

    /**
     * Has the manager do its periodic work so often, beside its own ticks and the servers' reports.
     *
     * @return how long each time took, the wait for the manager's lock included
     */
    public Histogram ticks(int count) {
        Histogram nanos = new Histogram(3);
        for (int tick = 0; tick < count; tick++) {
            long began = System.nanoTime();
            manager.cluster().tick();
            nanos.recordValue(System.nanoTime() - began);
            LockSupport.parkNanos(TICK_PAUSE_NANOS);
        }
        return nanos;
    }

    /**
     * Ends the manager and opens another on the same state; ZooKeeper continues to run, as an ensemble does.
     *
     * @return ms from the beginning of the other's start until it has answered an allocation
     */
    public double leaderChange() {
        attendants.attend(null);
        manager.close();
        long id = AllocationCallers.newIds(random, 1)[0];
        long started = System.nanoTime();
        manager = new InProcessManager(zookeeper.connection());
        attendants.attend(manager.cluster());
        manager.awaitAllocation(id);
        double millis = (System.nanoTime() - started) / 1e6;
        manager.cluster().deallocate(id);
        attendants.awaitAll();
        return millis;
    }

    @Override
    public void close() {
        if (attendants != null) {
            attendants.attend(null);
        }
        Closeables.all(manager, opened);
    }
}
