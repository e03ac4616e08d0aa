package io.farheap.cli;

import io.farheap.kv.FarMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code farheap kv drop}. */
@Command(
        name = "drop",
        description = "Drop a map, with all of its objects, for all clients.",
        mixinStandardHelpOptions = true)
final class KvDropCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Override
    public Integer call() {
        try (FarMap map = options.builder().open()) {
            map.drop();
        }
        return 0;
    }
}
