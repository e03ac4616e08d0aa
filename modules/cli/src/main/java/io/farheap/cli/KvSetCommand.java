package io.farheap.cli;

import io.farheap.command.Durations;
import io.farheap.kv.MapSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code farheap kv set}. */
@Command(
        name = "set",
        description = "Store an object. The exit code is 1 if its condition is not met.",
        mixinStandardHelpOptions = true)
final class KvSetCommand implements Callable<Integer> {

    /** At most one. */
    private static final class Condition {

        @Option(names = "--if-absent", description = "Store it only if the map does not have the key.")
        private boolean absent;

        @Option(names = "--if-present", description = "Store it only if the map has the key.")
        @SuppressWarnings("UnusedVariable") // It excludes the others; what is done without them is done with it.
        private boolean present;

        @Option(
                names = "--if-version",
                paramLabel = "N",
                description = "Store it only if the object has this version, as 'kv get --with-version' prints it.")
        private @Nullable Long version;
    }

    @Mixin
    private KvOptions options;

    @Parameters(index = "1", paramLabel = "KEY")
    private String key;

    @Parameters(index = "2", arity = "0..1", paramLabel = "VALUE")
    private @Nullable String value;

    @Option(names = "--from", paramLabel = "FILE", description = "Store the content of this file instead of VALUE.")
    private @Nullable Path from;

    @Option(
            names = "--life",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "0s",
            description = "Time after which the object expires (default: none; it stays until it is evicted).")
    private Duration life;

    @ArgGroup
    private @Nullable Condition condition;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        byte[] bytes = bytes();
        return options.in(session -> {
            if (store(session, key.getBytes(StandardCharsets.UTF_8), bytes)) {
                return 0;
            }
            spec.commandLine().getErr().println("nothing was stored: " + unmet());
            return 1;
        });
    }

    private byte[] bytes() {
        if ((value == null) == (from == null)) {
            throw new IllegalArgumentException("say either VALUE or --from FILE");
        }
        try {
            return value != null ? value.getBytes(StandardCharsets.UTF_8) : Files.readAllBytes(from);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read the value", e);
        }
    }

    private boolean store(MapSession session, byte[] name, byte[] bytes) {
        long millis = life.toMillis();
        if (condition == null) {
            session.set(name, bytes, millis);
            return true;
        }
        if (condition.version != null) {
            return session.compareAndSet(name, bytes, condition.version, millis);
        }
        return condition.absent ? session.add(name, bytes, millis) : session.replace(name, bytes, millis);
    }

    private String unmet() {
        if (condition != null && condition.version != null) {
            return "object " + key + " is not of version " + condition.version
                    + "; get it again, or store it without a condition";
        }
        return condition != null && condition.absent
                ? "the map has object " + key + " already"
                : "the map has no object " + key;
    }
}
