package io.farheap.measure;

import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import java.io.IOException;
import java.nio.file.Path;

/** Measures a model into its file, and knows afterwards what that took. One thread. */
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
     * Goes on where an earlier run was interrupted; measures nothing where the file is complete.
     *
     * @throws io.farheap.slo.ModelFileException where the file is of another subject, damaged, or in use
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

    /** Measurements that the file has. */
    public int measured() {
        return measured;
    }

    /** Those of them that this run has taken. */
    public int measuredNow() {
        return measured - before;
    }

    /** Points that early termination has left out. */
    public int leftOut() {
        return leftOut;
    }

    /** What this run took. */
    public double seconds() {
        return seconds;
    }
}
