package io.farheap.cli;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code farheap kv get}. */
@Command(
        name = "get",
        description = "Print an object. Exit code 1 where the map does not have it.",
        mixinStandardHelpOptions = true)
final class KvGetCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Parameters(index = "1", paramLabel = "KEY")
    private String key;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return options.in(session -> {
            byte[] value = session.get(key.getBytes(StandardCharsets.UTF_8));
            if (value == null) {
                spec.commandLine().getErr().println("the map has no object " + key);
                return 1;
            }
            spec.commandLine().getOut().println(new String(value, StandardCharsets.UTF_8));
            return 0;
        });
    }
}
