package io.farheap.cli.slo;

import io.farheap.cli.bench.BenchReport;
import io.farheap.cli.progress.Progress;
import io.farheap.slo.Measurement;
import io.farheap.slo.ModelMeasurer;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import me.tongfei.progressbar.ProgressBar;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/** Measures a model into its file, with a bar on standard error that says how far it is and how long it will take. One thread. */
public final class ModelRun {

    private final ModelSubject subject;
    private final Path file;
    private ProgressBar bar;
    private int before;
    private int measured;
    private int leftOut;
    private double seconds;

    public ModelRun(ModelSubject subject, Path file) {
        this.subject = subject;
        this.file = file;
    }

    /**
     * Goes on where an earlier run was interrupted; measures nothing where the file is complete.
     *
     * @throws io.farheap.slo.ModelFileException where the file is of another subject, damaged, or in use
     */
    public PerformanceModel measure(Measurement measurement) throws IOException, InterruptedException {
        long start = System.nanoTime();
        try {
            return ModelMeasurer.measure(file, subject, measurement, this::progress);
        } finally {
            seconds = (System.nanoTime() - start) / 1e9;
            if (bar != null) {
                bar.close();
            }
        }
    }

    private void progress(int done, int left, int atMost) {
        if (bar == null && atMost > 0) {
            before = done;
            bar = Progress.bar("measuring", done + atMost).startsFrom(done, Duration.ZERO).setUnit(" measurements", 1)
                .setUpdateIntervalMillis(500).build();
        } else if (bar == null) {
            before = done;
        } else {
            // Early termination makes it shorter on the way.
            bar.maxHint(done + atMost);
            bar.stepTo(done);
        }
        measured = done;
        leftOut = left;
    }

    /** Prints what the file has. */
    public void report(PrintStream out, PerformanceModel model) throws IOException {
        out.printf("model     %s, %d bytes%n", file, Files.size(file));
        out.printf("of        %s; %s; %d switches; records of %d bytes, %d%% reads%n", subject.device(), subject.hardware(), subject.switches(),
            subject.recordBytes(), subject.readPercent());
        out.printf(Locale.ROOT, "measured  %d times, %d of them now, in %.1f s; %d points left out; for %d configurations: client threads 1 to %d, batches 1 to %d, "
            + "queue depths %d to %d%n", measured, measured - before, seconds, leftOut, model.space().size(), model.space().clientCores(),
            model.space().maxBatch(), model.space().minDepth(), model.space().maxDepth());
    }

    /** The same as fields. */
    public void report(BenchReport.Row fields) throws IOException {
        fields.put("model_file_bytes", Files.size(file)).put("model_measurements", measured).put("model_points_left_out", leftOut)
            .put("model_measurements_now", measured - before).put("model_seconds_now", seconds);
    }
}
