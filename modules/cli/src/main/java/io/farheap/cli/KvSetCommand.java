package io.farheap.cli;

import io.farheap.command.Durations;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code farheap kv set}. */
@Command(name = "set", description = "Store an object.", mixinStandardHelpOptions = true)
final class KvSetCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Parameters(index = "1", paramLabel = "KEY")
    private String key;

    @Parameters(index = "2", paramLabel = "VALUE")
    private String value;

    @Option(
            names = "--life",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "0s",
            description = "It is found for this time. Default: until it is evicted.")
    private Duration life;

    @Override
    public Integer call() {
        return options.in(session -> {
            session.set(key.getBytes(StandardCharsets.UTF_8), value.getBytes(StandardCharsets.UTF_8), life.toMillis());
            return 0;
        });
    }
}
