package io.farheap.cli.slo;

import io.farheap.cli.bench.SoftverbsModel;
import io.farheap.connection.Connection;
import io.farheap.slo.ModelSubject;
import io.farheap.verbs.Context;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.Locale;

/** What a performance model is of, and where its file is: options of every command that has to do with one. */
public final class SubjectOptions {

    /** Deeper queues of one connection gain nothing that was ever measured; it keeps a model small where a device would take thousands. */
    private static final int USUAL_DEPTH = 16;

    @Option(names = "--record", paramLabel = "BYTES", defaultValue = "8", description = "record size (default: ${DEFAULT-VALUE})")
    private int recordBytes;

    @Option(names = "--reads", paramLabel = "PERCENT", defaultValue = "50", description = "share of reads (default: ${DEFAULT-VALUE})")
    private int readPercent;

    @Option(names = "--cores", paramLabel = "C", defaultValue = "0",
        description = "client cores that a cache may use (default: half of the machine's, as the server needs its own)")
    private int cores;

    @Option(names = "--max-depth", paramLabel = "Q", defaultValue = "0", description = "queue depth at most (default: the device's, and 16 at most)")
    private int depth;

    @Option(names = "--switches", paramLabel = "N", defaultValue = "0", description = "between client and server: 0 on one host, 1, 3 or 5 (default: ${DEFAULT-VALUE})")
    private int switches;

    @Option(names = "--file", paramLabel = "FILE", description = "of the model (default: one for each such model in ~/.cache/farheap/models)")
    private Path file;

    /** @throws IllegalArgumentException where an option is out of its range */
    public ModelSubject subject(Context context) {
        int deepest = Connection.maxDepth(context.limits());
        if (depth > deepest) {
            throw new IllegalArgumentException("--max-depth " + depth + ": " + context.device().name() + " takes up to " + deepest);
        }
        return new ModelSubject(device(context), Hardware.describe(), switches, recordBytes, readPercent,
            cores == 0 ? Math.max(1, Runtime.getRuntime().availableProcessors() / 2) : cores, depth == 0 ? Math.min(deepest, USUAL_DEPTH) : depth);
    }

    private static String device(Context context) {
        String name = context.device().name() + " (" + context.library().name().toLowerCase(Locale.ROOT) + ")";
        String model = SoftverbsModel.of(context.library());
        return model.equals(SoftverbsModel.NONE) ? name : name + ", " + model;
    }

    /** The file of a subject's model, which may not exist yet. */
    public Path file(ModelSubject subject) {
        return file != null ? file : ModelStore.file(subject);
    }
}
