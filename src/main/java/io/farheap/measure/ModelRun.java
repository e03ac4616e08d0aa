package io.farheap.measure;

import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import java.io.IOException;
import java.nio.file.Path;

/** Measures a model into its file, and counts what the run measured. One thread. */
public final class ModelRun {

    private final ModelSubject subject;
    private final Path file;
    private boolean begun;
    private int before;
    private int measured;
    private int leftOut;
    private double seconds;

    public ModelRun(ModelSubject subject, Path file) {
        this.subject = subject;
        this.file = file;
    }

    /**
     * Continues where an earlier run was interrupted; measures nothing if the file is complete.
     *
     * @throws io.farheap.slo.ModelFileException if the file has another subject, is damaged, or is in use
     */
    public PerformanceModel measure(Measurement measurement, ModelMeasurer.Progress progress)
            throws IOException, InterruptedException {
        long start = System.nanoTime();
        try {
            return ModelMeasurer.measure(file, subject, measurement, (done, left, atMost) -> {
                if (!begun) {
                    before = done;
                    begun = true;
                }
                measured = done;
                leftOut = left;
                progress.at(done, left, atMost);
            });
        } finally {
            seconds = (System.nanoTime() - start) / 1e9;
        }
    }

    public ModelSubject subject() {
        return subject;
    }

    public Path file() {
        return file;
    }

    /** How many measurements the file has. */
    public int measured() {
        return measured;
    }

    /** How many of these this run has taken. */
    public int measuredNow() {
        return measured - before;
    }

    /** How many points early termination has omitted. */
    public int leftOut() {
        return leftOut;
    }

    /** The duration of this run. */
    public double seconds() {
        return seconds;
    }
}
