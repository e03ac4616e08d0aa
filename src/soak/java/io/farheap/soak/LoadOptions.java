package io.farheap.soak;

import io.farheap.command.Durations;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Collection;
import picocli.CommandLine.Option;

/** What the commands of loads under faults are told alike, and how they end. */
final class LoadOptions {

    private static final double NANOS_PER_MINUTE = 60e9;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "1",
            description = "how long, such as 0.5; an episode that has begun is ended (default: ${DEFAULT-VALUE})")
    private double minutes;

    @Option(
            names = "--lease",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "10s",
            description = "of the servers; longer where the machine is so busy that a client may not come to renew it "
                    + "(default: ${DEFAULT-VALUE})")
    private Duration lease;

    /** @throws IllegalArgumentException where it is no time */
    long nanos() {
        if (!(minutes > 0)) {
            throw new IllegalArgumentException("--minutes " + minutes + ": it must be more than 0");
        }
        return (long) (minutes * NANOS_PER_MINUTE);
    }

    Duration lease() {
        return lease;
    }

    /** @return the exit code */
    static int end(Collection<String> problems, long seed, PrintStream out) {
        problems.forEach(problem -> out.println("WRONG: " + problem));
        out.printf("%s (seed %d)%n", problems.isEmpty() ? "every byte was right" : "FAILED", seed);
        return problems.isEmpty() ? 0 : 1;
    }
}
