package io.farheap.cli;

import io.farheap.command.Sizes;
import io.farheap.kv.FarMap;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap kv grow}. */
@Command(
        name = "grow",
        description =
                "Add memory to a map while it is used; no object moves. Each process that has the map open uses the "
                        + "new memory as soon as it learns of it.",
        mixinStandardHelpOptions = true)
final class KvGrowCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Option(
            names = "--memory",
            required = true,
            paramLabel = "SIZE",
            converter = Sizes.class,
            description = "Memory to add on all servers together, rounded up to whole regions on each.")
    private long memory;

    @Option(
            names = "--on",
            paramLabel = "HOST:PORT",
            description = "Add all of it on this server, which joins the map and can be drained again.")
    private @Nullable String server;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (FarMap map = options.builder().open()) {
            if (server == null) {
                map.grow(memory);
            } else {
                map.addServer(server, memory);
            }
            spec.commandLine().getOut().println("the map has grown: " + map.stats());
        }
        return 0;
    }
}
