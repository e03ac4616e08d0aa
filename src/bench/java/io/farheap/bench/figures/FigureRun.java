package io.farheap.bench.figures;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import io.farheap.bench.child.TetheredProcess;
import io.farheap.measure.SoftverbsModel;
import io.farheap.time.TimeLimit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One run of a figure's benchmark by the checkout's {@code ./farheap}, in a process of its own, which ends with this
 * one. The list of figures alone decides its settings: those of this process's environment are not passed on.
 */
final class FigureRun {

    private static final String LAUNCHER = "farheap";
    /** Variables that would change the figure. */
    private static final List<String> SETTINGS = List.of(SoftverbsModel.VARIABLE, "FARHEAP_JVM_OPTIONS");

    private static final String USAGE = "Usage: ";

    private final Path root;
    private final FigureSpec figure;
    private final boolean quickly;

    FigureRun(Path root, FigureSpec figure, boolean quickly) {
        this.root = root;
        this.figure = figure;
        this.quickly = quickly;
    }

    /**
     * Runs the benchmark.
     *
     * @param directory an empty one, to which it writes its report and its plots
     * @return its report, which has rows
     * @throws FigureRunException if it fails, does not end within the limit, or writes no report
     */
    JsonObject run(Path directory) throws IOException, InterruptedException, FigureRunException {
        Path json = directory.resolve("report.json");
        Path log = directory.resolve("messages.log");
        ProcessBuilder builder = new ProcessBuilder(TetheredProcess.command(command(json, directory)))
                .directory(root.toAbsolutePath().toFile())
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(log.toFile());
        SETTINGS.forEach(builder.environment()::remove);
        builder.environment().putAll(figure.environment());
        Process process = builder.start();
        boolean ended;
        Duration limit = figure.limit(quickly);
        try {
            ended = process.waitFor(TimeLimit.of(limit).toMillis(), TimeUnit.MILLISECONDS);
        } finally {
            TetheredProcess.end(process);
        }
        if (!ended) {
            throw new FigureRunException("it has not ended within " + limit.toSeconds() + " s, and was killed");
        }
        if (process.exitValue() != 0) {
            throw new FigureRunException("it ended with status " + process.exitValue() + lastMessage(log));
        }
        return report(json, log);
    }

    private List<String> command(Path json, Path directory) {
        List<String> command = new ArrayList<>();
        command.add(root.toAbsolutePath().resolve(LAUNCHER).toString());
        command.addAll(figure.words(quickly));
        command.addAll(List.of("--json", json.toString()));
        if (!quickly && !figure.plots().isEmpty()) {
            command.addAll(List.of("--report", directory.toString()));
        }
        return command;
    }

    private static JsonObject report(Path json, Path log) throws IOException, FigureRunException {
        try {
            if (Files.exists(json)
                    && JsonParser.parseString(Files.readString(json)) instanceof JsonObject report
                    && report.get("rows") instanceof JsonArray rows
                    && !rows.isEmpty()) {
                return report;
            }
        } catch (JsonParseException e) {
            // Handled like JSON of another kind.
        }
        throw new FigureRunException("it wrote no report with rows" + lastMessage(log));
    }

    /** Of its messages the last before the usage text, which follows an error in the options. */
    private static String lastMessage(Path log) throws IOException {
        List<String> messages = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                .lines()
                .takeWhile(line -> !line.startsWith(USAGE))
                .filter(line -> !line.isBlank())
                .toList();
        return messages.isEmpty()
                ? ", and printed no message"
                : "; its last message: " + messages.getLast().strip();
    }
}
