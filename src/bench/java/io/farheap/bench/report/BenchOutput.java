package io.farheap.bench.report;

import io.farheap.command.OutputFile;
import io.farheap.command.Plot;
import io.farheap.measure.SoftverbsModel;
import io.farheap.verbs.Context;
import io.farheap.verbs.VerbsLibrary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options for a benchmark's report, which every {@code bench} command mixes in. */
public final class BenchOutput {

    @Option(names = "--json", paramLabel = "FILE", description = "write the figures to this file as one JSON object")
    private @Nullable Path json;

    @Option(names = "--report", paramLabel = "DIR", description = "write plots to this directory, as PNG")
    private @Nullable Path directory;

    /** Fails before the benchmark runs, and not after it, if a file cannot be written. */
    public void check() {
        OutputFile.check("--json", json);
        if (directory != null) {
            try {
                Files.createDirectories(directory);
            } catch (IOException e) {
                throw new IllegalArgumentException(
                        "--report " + directory + ": cannot create this directory: " + e.getMessage(), e);
            }
            if (!Files.isWritable(directory)) {
                throw new IllegalArgumentException("--report " + directory + ": cannot write to this directory");
            }
        }
    }

    /** Creates a report with the device and the command of its figures. */
    public BenchReport report(CommandSpec command, Context device) {
        String settings = device.library() == VerbsLibrary.SOFT ? System.getenv(SoftverbsModel.VARIABLE) : null;
        return report(
                command, device.label() + " (" + device.library().name().toLowerCase(Locale.ROOT) + ")", settings);
    }

    /** Creates a report of figures for which no device was used. */
    public BenchReport report(CommandSpec command) {
        return report(command, "none", null);
    }

    private static BenchReport report(CommandSpec command, String device, @Nullable String settings) {
        String typed = TypedCommand.of(
                settings,
                ManagementFactory.getRuntimeMXBean().getInputArguments(),
                command.root().commandLine().getParseResult().originalArgs());
        return new BenchReport(
                device, SoftverbsModel.of(settings), Runtime.getRuntime().availableProcessors(), typed);
    }

    /** Whether plots are wanted. */
    public boolean plots() {
        return directory != null;
    }

    /** Writes the files that the user asked for: the JSON file, and each plot as DIR/NAME.png. */
    public void write(BenchReport report, Plot... plots) {
        try {
            if (json != null) {
                Files.writeString(json, report.json() + System.lineSeparator());
            }
            if (directory != null) {
                for (Plot plot : plots) {
                    plot.write(directory, report.origin());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the report", e);
        }
    }
}
