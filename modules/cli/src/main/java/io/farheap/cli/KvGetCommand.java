package io.farheap.cli;

import io.farheap.command.ProcessText;
import io.farheap.kv.contract.VersionedValue;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code farheap kv get}. */
@Command(
        name = "get",
        description = "Print an object. The exit code is 1 if the map does not have it.",
        mixinStandardHelpOptions = true)
final class KvGetCommand implements Callable<Integer> {

    @Mixin
    private KvOptions options;

    @Parameters(index = "1", paramLabel = "KEY")
    private String key;

    @Option(
            names = "--with-version",
            description = "Print the object's version first, on a line of its own, for 'kv set --if-version'.")
    private boolean withVersion;

    @Option(names = "--to", paramLabel = "FILE", description = "Write the value to this file, and do not print it.")
    private @Nullable Path to;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return options.in(session -> {
            VersionedValue found = session.getVersioned(key.getBytes(StandardCharsets.UTF_8));
            if (found == null) {
                spec.commandLine().getErr().println("the map has no object " + key);
                return 1;
            }
            String printed = to == null ? text(found.value()) : null;
            PrintWriter out = spec.commandLine().getOut();
            if (withVersion) {
                out.println(found.version());
            }
            if (to == null) {
                out.println(printed);
            } else {
                write(to, found.value());
            }
            return 0;
        });
    }

    /** Decodes the value as it is printed; refuses a value that is not text, instead of printing something else. */
    private static String text(byte[] value) {
        try {
            return ProcessText.utf8(value);
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "the value, " + value.length + " bytes, is not text in UTF-8; write it to a file with --to FILE",
                    e);
        }
    }

    private static void write(Path file, byte[] value) {
        try {
            Files.write(file, value);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the value", e);
        }
    }
}
