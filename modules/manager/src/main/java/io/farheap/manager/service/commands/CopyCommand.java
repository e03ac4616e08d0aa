package io.farheap.manager.service.commands;

import io.farheap.manager.state.Ensemble;
import io.farheap.manager.state.StateCopy;
import io.farheap.manager.state.StateLocation;
import io.farheap.manager.state.StateStatistics;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code farheap manager copy}: copies the state of managers from one place to another. */
@Command(
        name = "copy",
        description = {
            "Copy the managers' state from one place to another: a manager's own directory, an ensemble, or another "
                    + "ZooKeeper.",
            "Stop the managers at the old place first; the new place must be empty. In an ensemble, the copy takes the "
                    + "place of one manager, with its directory and id, while the others run. Afterwards no manager "
                    + "leads at the old place. If a copy was interrupted, run it once more."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
final class CopyCommand implements Callable<Integer> {

    @Option(names = "--from-data", paramLabel = "DIR", description = "The manager's --data.")
    private @Nullable Path fromData;

    @Option(
            names = "--from-ensemble",
            paramLabel = "ID@HOST:PORT",
            description = "The manager's --ensemble, if it was one of several. The copy takes its place, and more than "
                    + "half of the ensemble must run.")
    private @Nullable String fromEnsemble;

    @Option(names = "--from-id", paramLabel = "ID", description = "The manager's --id in the ensemble.")
    private int fromId;

    @Option(
            names = "--from-zookeeper",
            paramLabel = "HOST:PORT",
            description = "Instead of --from-data: the managers' --zookeeper.")
    private @Nullable String fromZooKeeper;

    @Option(names = "--to-data", paramLabel = "DIR", description = "The new manager's --data.")
    private @Nullable Path toData;

    @Option(
            names = "--to-ensemble",
            paramLabel = "ID@HOST:PORT",
            description = "The new manager's --ensemble, if it will be one of several. The copy takes its place, and "
                    + "more than half of the ensemble must run.")
    private @Nullable String toEnsemble;

    @Option(names = "--to-id", paramLabel = "ID", description = "The new manager's --id in the ensemble.")
    private int toId;

    @Option(
            names = "--to-zookeeper",
            paramLabel = "HOST:PORT",
            description = "Instead of --to-data: the --zookeeper of the new managers.")
    private @Nullable String toZooKeeper;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        StateLocation from = place("from", fromData, fromEnsemble, fromId, fromZooKeeper);
        StateLocation to = place("to", toData, toEnsemble, toId, toZooKeeper);
        StateStatistics copied = StateCopy.run(from, to);
        PrintWriter out = spec.commandLine().getOut();
        out.println("copied " + copied + " from " + from + " to " + to);
        out.println("Start managers there; no manager can start at the old place any more.");
        out.flush();
        return 0;
    }

    private StateLocation place(
            String side, @Nullable Path data, @Nullable String ensemble, int id, @Nullable String zooKeeper) {
        String options = "--" + side + "-";
        if ((data == null) == (zooKeeper == null)) {
            throw wrong("name one place: " + options + "data DIR, or " + options + "zookeeper HOST:PORT");
        }
        if ((ensemble == null) != (id == 0)) {
            throw wrong(options + "id and " + options + "ensemble belong together: name both, or neither");
        }
        if (zooKeeper != null) {
            if (ensemble != null) {
                throw wrong(options + "zookeeper is a ZooKeeper of its own, and has no " + options + "ensemble");
            }
            return new StateLocation.ExternalLocation(zooKeeper);
        }
        Path directory = Objects.requireNonNull(data);
        return ensemble == null
                ? new StateLocation.StandaloneLocation(directory)
                : new StateLocation.EnsembleLocation(directory, id, Ensemble.parse(ensemble));
    }

    private ParameterException wrong(String why) {
        return new ParameterException(spec.commandLine(), why);
    }
}
