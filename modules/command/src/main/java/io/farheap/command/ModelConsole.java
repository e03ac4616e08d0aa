package io.farheap.command;

import io.farheap.measure.Measurement;
import io.farheap.measure.ModelRun;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Locale;
import me.tongfei.progressbar.ProgressBar;
import org.jspecify.annotations.Nullable;

/**
 * Shows a {@link ModelRun} to its user: a bar on standard error with the progress and the time that is left, then the
 * content of the model's file. One thread.
 */
public final class ModelConsole {

    private final ModelRun run;
    private @Nullable ProgressBar bar;

    public ModelConsole(ModelRun run) {
        this.run = run;
    }

    /** As {@link ModelRun#measure}. */
    public PerformanceModel measure(Measurement measurement) throws IOException, InterruptedException {
        try {
            return run.measure(measurement, this::progress);
        } finally {
            if (bar != null) {
                bar.close();
            }
        }
    }

    private void progress(int done, int leftOut, int atMost) {
        if (bar == null && atMost > 0) {
            bar = ProgressBars.bar("measuring", done + atMost)
                    .startsFrom(done, Duration.ZERO)
                    .setUnit(" measurements", 1)
                    .setUpdateIntervalMillis(500)
                    .build();
        } else if (bar != null) {
            // Early termination makes the run shorter than was expected at first.
            bar.maxHint(done + atMost);
            bar.stepTo(done);
        }
    }

    /** Prints the content of the model's file. */
    public void print(PrintStream out, PerformanceModel model) throws IOException {
        ModelSubject subject = run.subject();
        out.printf("model     %s, %d bytes%n", run.file(), Files.size(run.file()));
        out.printf(
                "of        %s; %s; %d switches; records of %d bytes, %d%% reads%s%n",
                subject.device(),
                subject.hardware(),
                subject.switches(),
                subject.recordBytes(),
                subject.readPercent(),
                subject.coded() ? "; coded, " + subject.resilience() : "");
        out.printf(
                Locale.ROOT,
                "measured  %d times, %d of them now, in %.1f s; %d points left out; for %d configurations: client threads 1 to %d, batches 1 to %d, "
                        + "queue depths %d to %d%n",
                run.measured(),
                run.measuredNow(),
                run.seconds(),
                run.leftOut(),
                model.space().size(),
                model.space().clientCores(),
                model.space().maxBatch(),
                model.space().minDepth(),
                model.space().maxDepth());
    }
}
