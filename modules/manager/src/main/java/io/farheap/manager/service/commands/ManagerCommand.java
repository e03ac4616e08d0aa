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
        description = "Find servers for caches, and tell caches when a server leaves, until SIGTERM or Ctrl-C.",
        mixinStandardHelpOptions = true,
        subcommands = {CopyCommand.class, DrainCommand.class, TenantCommand.class, TenantsCommand.class},
        sortOptions = false)
public final class ManagerCommand implements Subcommand, Callable<Integer> {

    /** Options that say where the state is kept. */
    private static final class StateOptions {

        @Option(
                names = "--data",
                paramLabel = "DIR",
                description = "Where the manager keeps what it has to remember; made where it is not there.")
        private @Nullable Path data;

        @Option(
                names = "--temporary",
                description = "Keep it in a directory that is removed at the end, to try things.")
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
                description = "Keep it in this ZooKeeper, which several managers may use; its servers with commas "
                        + "between. --data has only what is the manager's own.")
        private @Nullable String zooKeeper;

        @Option(
                names = "--ensemble",
                paramLabel = "ID@HOST:PORT",
                description = "Keep it together with other managers, three or more, with commas between: where each "
                        + "is reached by the others, at this port and the next.")
        private @Nullable String ensemble;
    }

    @ArgGroup
    private @Nullable ZooKeeperOptions others;

    @Option(names = "--id", paramLabel = "ID", description = "Which one of --ensemble this manager is.")
    private int id;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:7300",
            description = "Where clients and servers reach it; port 0 takes a free one (default: ${DEFAULT-VALUE}).")
    private String listen;

    @Option(
            names = "--menu",
            paramLabel = "FILE",
            description = "Types of machines and their prices, as JSON; read again whenever it changes, and remembered "
                    + "(default: the one that it remembers; without any, all cost the same).")
    private @Nullable Path menu;

    @Option(
            names = "--client-timeout",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "30s",
            description = "A client process that is silent for this long has lost its caches, once no server holds "
                    + "something for them; clients speak every 10 s (default: ${DEFAULT-VALUE}).")
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
            names = "--no-early-moves",
            description =
                    "Leave caches on spot servers that do not live much longer, by what was seen of others, until "
                            + "these are told to leave.")
    private boolean noEarlyMoves;

    @Option(
            names = "--cheaper-moves",
            paramLabel = "N",
            defaultValue = "2",
            description = "Caches that may move at once to servers that cost less; 0 for none "
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
            throw wrong("name where the manager keeps what it has to remember: --data DIR, or --temporary");
        }
        ManagerOptions options = new ManagerOptions(
                serverTimeout.toNanos(), clientTimeout.toNanos(), !noEarlyMoves, cheaperMoves, supply.supply());
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
            requireOption(id == 0, "--id says which one of --ensemble this manager is: name that too");
            return EmbeddedZooKeeper.start(directory);
        }
        if (others.zooKeeper != null) {
            requireOption(id == 0, "--id says which one of --ensemble this manager is; --zookeeper needs none");
            return ExternalZooKeeper.use(directory, others.zooKeeper);
        }
        requireOption(!temporary, "a member of --ensemble must not forget what it has promised: name its --data");
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
