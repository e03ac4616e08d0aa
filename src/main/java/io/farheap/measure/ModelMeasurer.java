package io.farheap.measure;

import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelFileException;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import java.io.IOException;
import java.nio.file.Path;

/** Measures a model into a file, continuing where an earlier run stopped. */
public final class ModelMeasurer {

    private ModelMeasurer() {}

    /** Called before the first measurement of a run and after each. */
    @FunctionalInterface
    public interface Progress {

        /**
         * @param measured measurements of this run and earlier ones
         * @param leftOut points omitted by early termination
         * @param atMost measurements that remain at most
         */
        void at(int measured, int leftOut, int atMost);
    }

    /**
     * Measures what the file lacks; returns at once if it is complete.
     *
     * @throws InterruptedException if the measurement throws it; the file keeps all earlier measurements
     * @throws ModelFileException as {@link ModelFile#open}
     */
    public static PerformanceModel measure(Path file, ModelSubject subject, Measurement measurement, Progress progress)
            throws IOException, InterruptedException {
        try (ModelFile model = ModelFile.open(file, subject)) {
            MeasurementPlan plan = model.plan();
            progress.at(plan.measured(), plan.leftOut(), plan.atMost());
            while (!plan.complete()) {
                model.record(measurement.measure(plan.next()));
                progress.at(plan.measured(), plan.leftOut(), plan.atMost());
            }
            return plan.model();
        }
    }
}
