package io.farheap.soak;

import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.Subcommand;
import java.time.Duration;
import java.util.Collection;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap chaos}: coded caches alone, for as long as one likes. Exit code 1 where something is wrong. */
@Command(
        name = "chaos",
        mixinStandardHelpOptions = true,
        description =
                "Use coded caches of all modes while their servers are killed, stopped, cut off, slow, corrupt and "
                        + "short of memory, and check every byte, that nothing hangs, and that nothing is left.")
public final class ChaosCommand implements Subcommand, Callable<Integer> {

    private static final double NANOS_PER_MINUTE = 60e9;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "1",
            description = "how long, such as 0.5; an episode that has begun is ended (default: ${DEFAULT-VALUE})")
    private double minutes;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "of the first episode; the next has the next (default: another each time)")
    private @Nullable Long seed;

    @Option(
            names = "--lease",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "10s",
            description = "of the servers; longer where the machine is so busy that a client may not come to renew it "
                    + "(default: ${DEFAULT-VALUE})")
    private Duration lease;

    @Spec
    private CommandSpec spec;

    @Override
    @SuppressWarnings("ClosingStandardOutputStreams") // The chaos does not close what it prints to.
    public Integer call() throws InterruptedException {
        if (!(minutes > 0)) {
            throw new IllegalArgumentException("--minutes " + minutes + ": it must be more than 0");
        }
        DeviceNotice.print(spec.commandLine().getErr());
        long chosen = seed != null ? seed : new SplittableRandom().nextInt(Integer.MAX_VALUE);
        Collection<String> problems;
        try (Chaos chaos = new Chaos(chosen, lease.toNanos(), System.out)) {
            problems = chaos.run((long) (minutes * NANOS_PER_MINUTE));
        }
        problems.forEach(problem -> System.out.println("WRONG: " + problem));
        System.out.printf("%s (seed %d)%n", problems.isEmpty() ? "every byte was right" : "FAILED", chosen);
        return problems.isEmpty() ? 0 : 1;
    }
}
