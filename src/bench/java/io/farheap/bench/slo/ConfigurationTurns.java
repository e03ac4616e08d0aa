package io.farheap.bench.slo;

import io.farheap.bench.report.ModelLateness;
import io.farheap.bench.report.Samples;
import io.farheap.bench.report.TurnWarmUp;
import io.farheap.bench.report.Turns;
import io.farheap.slo.Configuration;
import io.farheap.slo.Performance;
import java.util.ArrayList;
import java.util.List;

/** Configurations of one cache, which take turns in an order that rotates. One thread at a time. */
final class ConfigurationTurns {

    /**
     * One turn of a configuration.
     *
     * @param coresNanos a cache line's round trip between cores, just after it
     * @param late the operations of each process in this turn alone
     */
    record Turn(Performance performance, double coresNanos, List<ModelLateness.Counts> late) {}

    /** Measures a turn of a configuration. */
    @FunctionalInterface
    interface TurnMeasurement {
        Turn measure(Configuration configuration) throws InterruptedException;
    }

    private ConfigurationTurns() {}

    /**
     * Measures configurations.
     *
     * @param warmUp of as many sides as there are configurations
     * @param turns of each that count
     * @return the figures of each, in their order
     */
    static List<MeasuredConfiguration> take(
            List<Configuration> configurations, TurnMeasurement measurement, TurnWarmUp warmUp, int turns)
            throws InterruptedException {
        List<Side> sides = configurations.stream()
                .map(configuration -> new Side(configuration, measurement))
                .toList();
        Turns taken = Turns.take(sides, warmUp, turns, () -> {});
        List<MeasuredConfiguration> measured = new ArrayList<>();
        for (int i = 0; i < sides.size(); i++) {
            Side side = sides.get(i);
            measured.add(new MeasuredConfiguration(
                    side.configuration,
                    side.medians(),
                    side.latency.quartiles(),
                    taken.of(i).quartiles(),
                    side.cores.median(),
                    taken.settled(i),
                    side.late.validity()));
        }
        return measured;
    }

    private static final class Side implements Turns.Side<InterruptedException> {

        private final Configuration configuration;
        private final TurnMeasurement measurement;
        private final Samples latency = new Samples();
        private final Samples readLatency = new Samples();
        private final Samples reads = new Samples();
        private final Samples writeLatency = new Samples();
        private final Samples writes = new Samples();
        private final Samples cores = new Samples();
        private final ModelLateness.Total late = new ModelLateness.Total();

        Side(Configuration configuration, TurnMeasurement measurement) {
            this.configuration = configuration;
            this.measurement = measurement;
        }

        @Override
        public double run(int turn) throws InterruptedException {
            Turn measured = measurement.measure(configuration);
            Performance performance = measured.performance();
            if (turn >= 0) {
                latency.add(performance.latencyNanos());
                readLatency.add(performance.readLatencyNanos());
                reads.add(performance.readsPerSecond());
                writeLatency.add(performance.writeLatencyNanos());
                writes.add(performance.writesPerSecond());
                cores.add(measured.coresNanos());
                late.add(measured.late());
            }
            return performance.throughput();
        }

        Performance medians() {
            return new Performance(readLatency.median(), reads.median(), writeLatency.median(), writes.median());
        }
    }
}
