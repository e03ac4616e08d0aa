package io.farheap.manager.service.leadership;

import io.farheap.manager.election.Election;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.service.grpc.ManagerServer;
import io.farheap.manager.service.grpc.StandbyServer;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.StateStore;
import io.farheap.manager.state.ZooKeeperHost;
import io.farheap.manager.state.ZooKeeperStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A manager's life: it stands by until it is elected, leads until another manager does, and stands by again. A manager
 * that is alone on its ZooKeeper leads from the beginning, and ends if another one opens its state. One thread.
 */
public final class LeadershipLifecycle {

    private static final System.Logger LOG = System.getLogger(LeadershipLifecycle.class.getName());
    private static final long LOOK_MILLIS = 250;

    /** Signals that the manager has to end. */
    public interface EndSignal {

        /** @return true as soon as the manager has to end; false after {@code millis} ms */
        boolean await(long millis) throws InterruptedException;
    }

    /** The work of a leader beside its calls. */
    public interface Duty extends AutoCloseable {

        /** @param address HOST:PORT at which the manager is reached */
        void serves(String address);

        /** Called a few times a second. */
        void look();

        /** Called when the manager does not lead any more, or ends. */
        @Override
        void close();
    }

    private final ZooKeeperHost zooKeeper;
    private final String where;
    private final EndSignal ending;
    private final Function<StateStore, ClusterManager> clusters;
    private final LongFunction<GrantSigner> signers;
    private final Function<ClusterManager, Duty> duties;
    private final Consumer<String> say;
    private String address;
    private boolean said;
    private String warned = "";

    /**
     * @param where the state's location, for people: a directory, or the address of a ZooKeeper
     * @param address HOST:PORT; with port 0 it takes a free one, and keeps it
     * @param clusters makes a cluster on a store that was opened for it
     * @param signers makes the signer of an epoch's grants
     * @param duties makes the work that is done while it leads
     * @param say receives a line for the operator when the manager first stands by, and each time that it leads
     */
    public LeadershipLifecycle(
            ZooKeeperHost zooKeeper,
            String where,
            String address,
            EndSignal ending,
            Function<StateStore, ClusterManager> clusters,
            LongFunction<GrantSigner> signers,
            Function<ClusterManager, Duty> duties,
            Consumer<String> say) {
        this.zooKeeper = zooKeeper;
        this.where = where;
        this.address = address;
        this.ending = ending;
        this.clusters = clusters;
        this.signers = signers;
        this.duties = duties;
        this.say = say;
    }

    /**
     * Returns when the manager has to end.
     *
     * @throws StateException if the ZooKeeper in this process has failed, or, for a manager that is alone on its
     *     ZooKeeper, if another one has opened its state
     */
    public void run() throws InterruptedException {
        if (!zooKeeper.shared()) {
            leadAlone();
            return;
        }
        boolean ended = false;
        while (!ended) {
            ended = standByAndLead();
        }
    }

    private void leadAlone() throws InterruptedException {
        boolean ended;
        try {
            ended = lead(null, null);
        } catch (StateException e) {
            // If the ZooKeeper in this process has failed, the state's connection only knows that it is lost.
            requireZooKeeper();
            throw e;
        }
        if (!ended) {
            throw new StateException("the manager ends: another has opened its state, and leads");
        }
    }

    /** @return whether the manager has to end */
    private boolean standByAndLead() throws InterruptedException {
        try (StandbyServer standby = StandbyServer.start(address)) {
            address = standby.address();
            if (!said) {
                said = true;
                say.accept("farheap manager listening on " + address + ": stands by, state in " + where);
            }
            try (Election election = new Election(zooKeeper.connection(), address)) {
                while (!election.elected()) {
                    requireZooKeeper();
                    standby.follow(election.leader());
                    if (ending.await(LOOK_MILLIS)) {
                        return true;
                    }
                }
                standby.follow(address);
                return lead(election, standby);
            } catch (StateException e) {
                requireZooKeeper();
                warn("the manager does not lead, and stands by: " + e.getMessage());
                return ending.await(LOOK_MILLIS);
            }
        }
    }

    /**
     * @param standby refuses calls until this manager serves
     * @return whether the manager has to end; else another manager leads
     */
    private boolean lead(@Nullable Election election, @Nullable StandbyServer standby) throws InterruptedException {
        try (ZooKeeperStore opened = new ZooKeeperStore(zooKeeper.connection())) {
            FencedStore store = new FencedStore(opened);
            ClusterManager cluster = clusters.apply(store);
            try (Duty duty = duties.apply(cluster);
                    ManagerServer manager = serve(cluster, store, standby)) {
                address = manager.address();
                duty.serves(address);
                say.accept("farheap manager " + (said ? "leads at " : "listening on ") + address + ": epoch "
                        + store.epoch() + ", state in " + where);
                said = true;
                warned = "";
                while (!store.stale() && !opened.followed() && (election == null || election.elected())) {
                    if (ending.await(LOOK_MILLIS)) {
                        return true;
                    }
                    requireZooKeeper();
                    duty.look();
                }
            }
        }
        warn("the manager at " + address + " leads no more, and stands by");
        return false;
    }

    /** Warns once while the reason stays the same. */
    private void warn(String why) {
        if (!why.equals(warned)) {
            warned = why;
            LOG.log(System.Logger.Level.WARNING, why);
        }
    }

    private ManagerServer serve(ClusterManager cluster, StateStore store, @Nullable StandbyServer standby) {
        if (standby != null) {
            standby.close();
        }
        return ManagerServer.start(address, cluster, signers.apply(store.epoch()));
    }

    private void requireZooKeeper() {
        if (!zooKeeper.running()) {
            throw new StateException("the manager ends: its ZooKeeper has failed, such as for want of disk" + free()
                    + "; make room, and start it again");
        }
    }

    /** Returns how much room is left on the disk of the files of a ZooKeeper in this process. */
    private String free() {
        try {
            return ", of which " + (Files.getFileStore(Path.of(where)).getUsableSpace() >> 20) + " MiB are free at "
                    + where;
        } catch (IOException | InvalidPathException e) {
            return "";
        }
    }
}
