package io.farheap.manager.service;

import io.farheap.command.Durations;
import io.farheap.command.Subcommand;
import io.farheap.command.Termination;
import io.farheap.manager.state.EmbeddedZooKeeper;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.ZooKeeperStore;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code farheap manager}: runs a cache manager until SIGTERM, SIGINT or, where asked to, the end of standard input.
 */
@Command(
        name = "manager",
        description = "Find servers for caches, and tell caches when a server leaves, until SIGTERM or Ctrl-C.",
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class ManagerCommand implements Subcommand, Callable<Integer> {

    /** Where the state is. */
    private static final class Place {

        @Option(
                names = "--data",
                paramLabel = "DIR",
                description = "Where the manager keeps what it has to remember; made where it is not there.")
        private Path data;

        @Option(
                names = "--temporary",
                description = "Keep it in a directory that is removed at the end, to try things.")
        private boolean temporary;
    }

    @ArgGroup(multiplicity = "1")
    private Place place;

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
    private Path menu;

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

    @Option(
            names = "--until-stdin-closes",
            description = "Stop also when standard input ends, so that a child does not outlive its parent.")
    private boolean untilStdinCloses;

    private static final long LOOK_MILLIS = 1_000;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        ManagerOptions options =
                new ManagerOptions(serverTimeout.toNanos(), clientTimeout.toNanos(), !noEarlyMoves, cheaperMoves);
        Termination termination = Termination.watch(untilStdinCloses);
        try (StateDirectory data = place.temporary ? StateDirectory.temporary() : StateDirectory.kept(place.data);
                EmbeddedZooKeeper zooKeeper = EmbeddedZooKeeper.start(data.path());
                ZooKeeperStore store = new ZooKeeperStore(zooKeeper.connection());
                ManagerServer manager = ManagerServer.start(
                        listen, new Cluster(store, options, System::nanoTime, System::currentTimeMillis))) {
            MenuWatch watch = MenuWatch.of(menu, manager.cluster()::menu);
            PrintWriter out = spec.commandLine().getOut();
            out.println("farheap manager listening on " + manager.address() + ": epoch " + store.epoch() + ", state in "
                    + data.path());
            out.flush();
            while (!termination.await(LOOK_MILLIS)) {
                watch.look(spec.commandLine().getErr()::println);
                if (!zooKeeper.running()) {
                    throw new StateException(
                            "the manager ends: its ZooKeeper has failed, such as for want of disk; see " + data.path()
                                    + ", make room, and start it again");
                }
            }
        }
        return 0;
    }
}
