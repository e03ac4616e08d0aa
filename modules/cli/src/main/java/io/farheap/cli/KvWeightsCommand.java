package io.farheap.cli;

import io.farheap.kv.FarMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code farheap kv weights}. */
@Command(
        name = "weights",
        description = "Print the weights that all clients of a map have learned for its evictions: the weight of each "
                + "expert, or the shares of the map for objects that were requested once and more than once.",
        mixinStandardHelpOptions = true)
final class KvWeightsCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        try (FarMap map = options.builder().open()) {
            map.weights()
                    .forEach((expert, weight) ->
                            spec.commandLine().getOut().println(String.format("%-12s %.4f", expert, weight)));
        }
        return 0;
    }
}
