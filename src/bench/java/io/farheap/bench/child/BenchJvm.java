package io.farheap.bench.child;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * One run of a {@code bench} command in a JVM of its own: with this one's {@code java}, environment, flags and verbs
 * library, and the code of any build. It ends with this process, in whatever way that ends. Any thread.
 */
public final class BenchJvm {

    /** The limit for one run: a benchmark that takes longer hangs. */
    public static final Duration LIMIT = TimeLimit.of(Duration.ofHours(1));

    /** Flags that are passed on: properties and limits. Agents are not: two JVMs cannot use the same port or file. */
    private static final Pattern FLAGS = Pattern.compile("-D.*|-X.*|--.*");

    private static final int LAST_LINES = 10;

    private BenchJvm() {}

    /**
     * Runs the command.
     *
     * @param arguments of the command line, without {@code --json}
     * @return the rows of its report
     * @throws BenchRunException if it fails, does not end within the limit, or reports nothing
     */
    public static JsonArray run(FarheapBuild build, List<String> arguments, Duration limit)
            throws IOException, InterruptedException {
        return run(build, arguments, limit, Map.of());
    }

    /**
     * The same with another environment.
     *
     * @param environment replaces variables of this process's
     */
    public static JsonArray run(
            FarheapBuild build, List<String> arguments, Duration limit, Map<String, String> environment)
            throws IOException, InterruptedException {
        Path json = Files.createTempFile("farheap-bench", ".json");
        Path log = Files.createTempFile("farheap-bench", ".log");
        // Also if this process ends before the run does.
        json.toFile().deleteOnExit();
        log.toFile().deleteOnExit();
        try {
            ProcessBuilder builder = new ProcessBuilder(TetheredProcess.command(command(build, arguments, json)))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(log.toFile());
            builder.environment().putAll(environment);
            Process process = builder.start();
            boolean ended;
            try {
                ended = process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
            } finally {
                TetheredProcess.end(process);
            }
            if (!ended) {
                throw failed(build, "has not ended within " + limit.toSeconds() + " s, and was killed", log);
            }
            if (process.exitValue() != 0) {
                throw failed(build, "ended with status " + process.exitValue(), log);
            }
            return rows(build, json, log);
        } finally {
            Files.deleteIfExists(json);
            Files.deleteIfExists(log);
        }
    }

    private static List<String> command(FarheapBuild build, List<String> arguments, Path json) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        List<String> command = new ArrayList<>(
                List.of(java, "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(FLAGS.asMatchPredicate())
                .forEach(command::add);
        command.add(
                "-D" + VerbsLibrary.PROPERTY + "=" + Devices.library().name().toLowerCase(Locale.ROOT));
        command.addAll(build.launch());
        command.addAll(arguments);
        command.addAll(List.of("--json", json.toString()));
        return command;
    }

    private static JsonArray rows(FarheapBuild build, Path json, Path log) throws IOException {
        try {
            if (JsonParser.parseString(Files.readString(json)) instanceof JsonObject report
                    && report.get("rows") instanceof JsonArray rows) {
                return rows;
            }
        } catch (JsonParseException e) {
            // Handled like JSON of another kind.
        }
        throw failed(build, "wrote no report with rows", log);
    }

    private static BenchRunException failed(FarheapBuild build, String how, Path log) throws IOException {
        // The usage text, which follows an error in the options, is left out: it would take the place of the error.
        List<String> lines = Files.readString(log)
                .lines()
                .takeWhile(line -> !line.startsWith("Usage: "))
                .toList();
        String last = lines.stream()
                .skip(Math.max(0, lines.size() - LAST_LINES))
                .collect(Collectors.joining(System.lineSeparator()));
        return new BenchRunException("a run of " + build.title() + " " + how
                + (last.isBlank()
                        ? "; it printed no message"
                        : "; its last messages:" + System.lineSeparator() + last));
    }
}
