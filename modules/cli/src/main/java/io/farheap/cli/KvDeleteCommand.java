package io.farheap.cli;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code farheap kv delete}. */
@Command(
        name = "delete",
        description = "Delete an object. The exit code is 1 if the map does not have it.",
        mixinStandardHelpOptions = true)
final class KvDeleteCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Parameters(index = "1", paramLabel = "KEY")
    private String key;

    @Override
    public Integer call() {
        return options.in(session -> session.delete(key.getBytes(StandardCharsets.UTF_8)) ? 0 : 1);
    }
}
