package io.farheap.cli;

import io.farheap.kv.FarMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap kv drop}. */
@Command(
        name = "drop",
        description = "Drop a map, with all of its objects, for all clients.",
        mixinStandardHelpOptions = true)
final class KvDropCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Option(
            names = "--parts",
            description = "End what the servers of --servers have of the map, for a map that was created or dropped by"
                    + " half, or is of another release, so that it cannot be opened. The exit code is 1 if no"
                    + " server has a part of it.")
    private boolean parts;

    @Spec
    private CommandSpec command;

    @Override
    public Integer call() {
        if (parts) {
            int ended = options.builder().dropParts();
            if (ended == 0) {
                command.commandLine()
                        .getErr()
                        .println("no server of --servers has a part of the map: check its name and the token");
                return 1;
            }
            command.commandLine().getOut().println("servers that had a part of the map: " + ended);
            return 0;
        }
        try (FarMap map = options.builder().open()) {
            map.drop();
        }
        return 0;
    }
}
