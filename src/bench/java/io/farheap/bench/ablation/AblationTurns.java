package io.farheap.bench.ablation;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.SideSetup;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import java.util.ArrayList;
import java.util.List;

/** The steps of one operation, which take turns in an order that rotates. One thread at a time. */
final class AblationTurns {

    /**
     * One turn of a step.
     *
     * @param p50 median latency, in ns
     * @param p99 99th percentile of the latency, in ns
     * @param rate operations/s
     * @param late the operations of each process in this turn alone
     */
    record Turn(double p50, double p99, double rate, List<ModelLateness.Counts> late) {}

    /** Measures a turn of a step. */
    @FunctionalInterface
    interface StepMeasurement {
        Turn measure(AblationStep step) throws InterruptedException;
    }

    /** The application's thread and, by the step, the thread that issues the requests and the server's. */
    private static final int MOST_THREADS = 3;

    private final StepMeasurement measurement;
    private final int outstanding;
    private final int size;
    private final int cores;

    /**
     * @param outstanding requests under way
     * @param size of a record, in bytes
     * @param cores that the threads of a step have
     */
    AblationTurns(StepMeasurement measurement, int outstanding, int size, int cores) {
        this.measurement = measurement;
        this.outstanding = outstanding;
        this.size = size;
        this.cores = cores;
    }

    /**
     * Measures the steps.
     *
     * @param warmUp of as many sides as there are steps
     * @param turns of each step that count
     * @return a row for each step, in their order
     */
    List<AblationRow> take(String operation, List<AblationStep> steps, TurnWarmUp warmUp, int turns)
            throws InterruptedException {
        List<Side> sides = steps.stream().map(Side::new).toList();
        Turns taken = Turns.take(sides, warmUp, turns, () -> {});
        List<AblationRow> rows = new ArrayList<>();
        for (int i = 0; i < steps.size(); i++) {
            Side side = sides.get(i);
            rows.add(new AblationRow(
                    operation,
                    side.step,
                    side.p50.quartiles(),
                    side.p99.quartiles(),
                    taken.of(i).quartiles(),
                    setup(side.step),
                    taken.settled(i),
                    side.late.validity()));
        }
        return rows;
    }

    private SideSetup setup(AblationStep step) {
        int threads = MOST_THREADS;
        if (step.by() == AblationStep.Issuer.ITSELF) {
            threads--;
        }
        if (step.oneSided()) {
            threads--;
        }
        return new SideSetup((long) outstanding * size, Math.min(threads, cores), outstanding, 1);
    }

    private final class Side implements Turns.Side<InterruptedException> {

        private final AblationStep step;
        private final Samples p50 = new Samples();
        private final Samples p99 = new Samples();
        private final ModelLateness.Total late = new ModelLateness.Total();

        Side(AblationStep step) {
            this.step = step;
        }

        @Override
        public double run(int turn) throws InterruptedException {
            Turn measured = measurement.measure(step);
            if (turn >= 0) {
                p50.add(measured.p50());
                p99.add(measured.p99());
                late.add(measured.late());
            }
            return measured.rate();
        }
    }
}
