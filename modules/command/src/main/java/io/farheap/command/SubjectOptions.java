package io.farheap.command;

import io.farheap.measure.ModelStore;
import io.farheap.measure.ModelSubjects;
import io.farheap.resilience.contract.Resilience;
import io.farheap.slo.ModelSubject;
import io.farheap.verbs.Context;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The subject of a performance model, and the model's file: options of every command that uses a model. */
public final class SubjectOptions {

    @Option(
            names = "--record",
            paramLabel = "BYTES",
            defaultValue = "8",
            description = "record size (default: ${DEFAULT-VALUE})")
    private int recordBytes;

    @Option(
            names = "--reads",
            paramLabel = "PERCENT",
            defaultValue = "50",
            description = "share of reads (default: ${DEFAULT-VALUE})")
    private int readPercent;

    @Option(
            names = "--cores",
            paramLabel = "C",
            defaultValue = "0",
            description =
                    "client cores that a cache may use (default: half of the machine's, as the server needs its own)")
    private int cores;

    @Option(
            names = "--max-depth",
            paramLabel = "Q",
            defaultValue = "0",
            description = "queue depth at most (default: the device's, and 16 at most)")
    private int depth;

    @Option(
            names = "--switches",
            paramLabel = "N",
            defaultValue = "0",
            description = "between client and server: 0 on one host, 1, 3 or 5 (default: ${DEFAULT-VALUE})")
    private int switches;

    @Option(
            names = "--file",
            paramLabel = "FILE",
            description = "of the model (default: one for each such model in ~/.cache/farheap/models)")
    private @Nullable Path file;

    @Mixin
    private ResilienceOptions code = new ResilienceOptions();

    /** @throws IllegalArgumentException if an option is out of its range */
    public ModelSubject subject(Context context) {
        int deepest = ModelSubjects.deepest(context);
        if (depth > deepest) {
            throw new IllegalArgumentException(
                    "--max-depth " + depth + ": " + context.device().name() + " takes up to " + deepest);
        }
        ModelSubject subject = ModelSubjects.of(context, switches, recordBytes, readPercent, cores, depth);
        Resilience resilience = resilience();
        return resilience == null ? subject : subject.coded(resilience.toString());
    }

    /** Returns the subject's resilience, or null if it has none. */
    public @Nullable Resilience resilience() {
        return code.resilience();
    }

    /** Whether the option names a file, which is then the same for every subject. */
    public boolean namesFile() {
        return file != null;
    }

    /** Returns the file of a subject's model, which may not exist yet. */
    public Path file(ModelSubject subject) {
        return file != null ? file : ModelStore.file(subject);
    }
}
