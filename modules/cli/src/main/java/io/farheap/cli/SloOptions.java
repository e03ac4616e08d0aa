package io.farheap.cli;

import io.farheap.slo.Objective;
import io.farheap.slo.Slo;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a command that give an objective. */
public final class SloOptions {

    @Option(
            names = "--read-latency",
            paramLabel = "TIME",
            converter = LatencyMicros.class,
            description = "reads take at most so long on average: microseconds, or a number with a unit, such as 20us")
    private @Nullable Double readMicros;

    @Option(names = "--read-rate", paramLabel = "N", description = "at least so many reads a second")
    private @Nullable Double reads;

    @Option(
            names = "--write-latency",
            paramLabel = "TIME",
            converter = LatencyMicros.class,
            description = "writes take at most so long on average: microseconds, or a number with a unit, such as 20us")
    private @Nullable Double writeMicros;

    @Option(names = "--write-rate", paramLabel = "N", description = "at least so many writes a second")
    private @Nullable Double writes;

    /** Whether an objective was given. */
    public boolean given() {
        return readMicros != null || reads != null || writeMicros != null || writes != null;
    }

    /** @throws IllegalArgumentException if no objective was given, or a value is out of its range */
    public Slo slo() {
        Slo slo = new Slo(objective(readMicros, reads), objective(writeMicros, writes));
        if (!slo.reads().bounds() && !slo.writes().bounds()) {
            throw new IllegalArgumentException(
                    "no objective: give at least one of --read-latency, --read-rate, --write-latency and --write-rate");
        }
        return slo;
    }

    private static Objective objective(@Nullable Double micros, @Nullable Double perSecond) {
        return new Objective(
                micros == null ? Double.POSITIVE_INFINITY : micros * 1e3, perSecond == null ? 0 : perSecond);
    }
}
