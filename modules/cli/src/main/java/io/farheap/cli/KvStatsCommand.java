package io.farheap.cli;

import io.farheap.kv.FarMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code farheap kv stats}. */
@Command(
        name = "stats",
        description =
                "Print a map's objects, memory and regions. It reads the whole table, or asks the servers of a leased map.",
        mixinStandardHelpOptions = true)
final class KvStatsCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (FarMap map = options.builder().open()) {
            spec.commandLine().getOut().println(map.stats());
        }
        return 0;
    }
}
