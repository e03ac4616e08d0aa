package io.farheap.measure;

import io.farheap.slo.MeasurementPlan;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelFileException;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.PerformanceModel;
import java.io.IOException;
import java.nio.file.Path;

/** Measures a model into a file, from where an earlier run stopped. */
public final class ModelMeasurer {

    private ModelMeasurer() {}

    /** Told before the first measurement of a run and after each. */
    @FunctionalInterface
    public interface Progress {

        /**
         * @param measured in this and earlier runs
         * @param leftOut by early termination
         * @param atMost measurements still to come
         */
        void at(int measured, int leftOut, int atMost);
    }

    /**
     * Returns at once where the file is complete.
     *
     * @throws InterruptedException as the measurement throws it; the file keeps all measurements before
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
