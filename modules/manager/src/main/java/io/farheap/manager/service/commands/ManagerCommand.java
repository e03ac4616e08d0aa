package io.farheap.manager.service.commands;

import io.farheap.command.Durations;
import io.farheap.command.Subcommand;
import io.farheap.command.Termination;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.manager.service.ClusterManager;
import io.farheap.manager.service.ManagerOptions;
import io.farheap.manager.service.grant.GrantClock;
import io.farheap.manager.service.grant.GrantSigner;
import io.farheap.manager.service.leadership.LeaderDuty;
import io.farheap.manager.service.leadership.LeadershipLifecycle;
import io.farheap.manager.state.EmbeddedZooKeeper;
import io.farheap.manager.state.Ensemble;
import io.farheap.manager.state.EnsembleMember;
import io.farheap.manager.state.ExternalZooKeeper;
import io.farheap.manager.state.ZooKeeperHost;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.security.KeyPair;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * {@code farheap manager}: runs a cache manager until SIGTERM, SIGINT or, if that option is set, the end of standard
 * input.
 */
@Command(
        name = "manager",
        description = "Allocate servers' memory to caches, and notify caches when a server leaves, until SIGTERM or "
                + "Ctrl-C.",
        mixinStandardHelpOptions = true,
        subcommands = {
            CopyCommand.class,
            DrainCommand.class,
            ForgetCommand.class,
            LivesCommand.class,
            RatesCommand.class,
            TenantCommand.class,
            TenantsCommand.class
        },
        sortOptions = false)
public final class ManagerCommand implements Subcommand, Callable<Integer> {

    /** Options that say where the state is kept. */
    private static final class StateOptions {

        @Option(
                names = "--data",
                paramLabel = "DIR",
                description = "Directory for the manager's state; created if it does not exist.")
        private @Nullable Path data;

        @Option(
                names = "--temporary",
                description = "Keep the state in a directory that is removed at the end, to try things.")
        private boolean temporary;
    }

    /** Picocli must not require it, since subcommands run without it. */
    @ArgGroup
    private @Nullable StateOptions place;

    /** If none of them is given, the manager runs a ZooKeeper of its own. */
    private static final class ZooKeeperOptions {

        @Option(
                names = "--zookeeper",
                paramLabel = "HOST:PORT",
                description = "Keep the state in this ZooKeeper, which several managers may use; its servers, "
                        + "separated by commas. --data then has only this manager's own files.")
        private @Nullable String zooKeeper;

        @Option(
                names = "--ensemble",
                paramLabel = "ID@HOST:PORT",
                description = "Keep the state together with other managers, three or more, separated by commas: the "
                        + "address at which the others reach each of them, at this port and the next.")
        private @Nullable String ensemble;
    }

    @ArgGroup
    private @Nullable ZooKeeperOptions others;

    @Option(names = "--id", paramLabel = "ID", description = "Id of this manager in --ensemble.")
    private int id;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:7300",
            description = "Address for clients and servers; port 0 takes a free port (default: ${DEFAULT-VALUE}).")
    private String listen;

    @Option(
            names = "--menu",
            paramLabel = "FILE",
            description = "Types of machines and their prices, as JSON; read again whenever the file changes, and kept "
                    + "in the state (default: the menu in the state; without any, all types cost the same).")
    private @Nullable Path menu;

    @Option(
            names = "--client-timeout",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "30s",
            description = "A client process that is silent for this long loses its caches, as soon as no server holds "
                    + "regions for them; clients report every 10 s (default: ${DEFAULT-VALUE}).")
    private Duration clientTimeout;

    @Option(
            names = "--server-timeout",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "3s",
            description = "A memory server that is silent for this long gets no more caches; servers report every "
                    + "second (default: ${DEFAULT-VALUE}).")
    private Duration serverTimeout;

    @Option(
            names = "--forget-after",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "60m",
            description = "A memory server that is silent for this long, while others are heard, is given up: what it "
                    + "held counts as free; above --server-timeout (default: ${DEFAULT-VALUE}).")
    private Duration forgetAfter;

    @Option(
            names = "--no-early-moves",
            description =
                    "Leave caches on spot servers that will probably end soon, by the lifetimes of earlier servers, "
                            + "until these are reclaimed.")
    private boolean noEarlyMoves;

    @Option(
            names = "--cheaper-moves",
            paramLabel = "N",
            defaultValue = "2",
            description = "Caches that may move to cheaper servers at the same time; 0 for none "
                    + "(default: ${DEFAULT-VALUE}).")
    private int cheaperMoves;

    @Mixin
    private SupplyOptions supply;

    @Option(
            names = "--until-stdin-closes",
            description = "Stop also when standard input ends, so that a child does not outlive its parent.")
    private boolean untilStdinCloses;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        StateOptions kept = place;
        if (kept == null) {
            throw wrong("the manager's state has no place: name --data DIR, or --temporary");
        }
        requireOption(
                forgetAfter.compareTo(serverTimeout) > 0,
                "--forget-after is " + forgetAfter.toMillis() + " ms and --server-timeout " + serverTimeout.toMillis()
                        + " ms: a server is given up after it counts as silent, so raise --forget-after");
        ManagerOptions options = new ManagerOptions(
                serverTimeout.toNanos(),
                clientTimeout.toNanos(),
                forgetAfter.toNanos(),
                !noEarlyMoves,
                cheaperMoves,
                supply.supply());
        ServerProvider.Factory provider = supply.provider();
        Termination termination = Termination.watch(untilStdinCloses);
        PrintWriter out = spec.commandLine().getOut();
        try (StateDirectory data = kept.data == null ? StateDirectory.temporary() : StateDirectory.kept(kept.data);
                ZooKeeperHost zooKeeper = zooKeeper(data.path(), kept.temporary)) {
            KeyPair keys = KeyFile.read(data.path());
            new LeadershipLifecycle(
                            zooKeeper,
                            others != null && others.zooKeeper != null
                                    ? others.zooKeeper
                                    : data.path().toString(),
                            listen,
                            termination::await,
                            store -> new ClusterManager(store, options, System::nanoTime, System::currentTimeMillis),
                            epoch -> new GrantSigner(
                                    keys, epoch, new GrantClock(System::nanoTime, System::currentTimeMillis)),
                            cluster -> duty(cluster, provider),
                            line -> {
                                out.println(line);
                                out.flush();
                            })
                    .run();
        }
        return 0;
    }

    private ZooKeeperHost zooKeeper(Path directory, boolean temporary) {
        if (others == null) {
            requireOption(id == 0, "--id is the id of this manager in --ensemble: name that too");
            return EmbeddedZooKeeper.start(directory);
        }
        if (others.zooKeeper != null) {
            requireOption(id == 0, "--id is the id of this manager in --ensemble: leave it out with --zookeeper");
            return ExternalZooKeeper.use(directory, others.zooKeeper);
        }
        requireOption(!temporary, "a member of --ensemble must not lose its state: name its --data");
        return EnsembleMember.start(directory, id, Ensemble.parse(Objects.requireNonNull(others.ensemble)));
    }

    private void requireOption(boolean right, String otherwise) {
        if (!right) {
            throw wrong(otherwise);
        }
    }

    private ParameterException wrong(String why) {
        return new ParameterException(spec.commandLine(), why);
    }

    private LeadershipLifecycle.Duty duty(ClusterManager cluster, ServerProvider.Factory provider) {
        MenuWatch watch = MenuWatch.of(menu, cluster::menu);
        return new LeaderDuty(
                () -> watch.look(spec.commandLine().getErr()::println),
                address -> cluster.use(provider, supply.settings(), address));
    }
}
