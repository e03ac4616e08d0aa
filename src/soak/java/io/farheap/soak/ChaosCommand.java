package io.farheap.soak;

import io.farheap.command.DeviceNotice;
import io.farheap.command.Subcommand;
import java.util.Collection;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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

    @Mixin
    private LoadOptions options;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "of the first episode; the next has the next (default: another each time)")
    private @Nullable Long seed;

    @Spec
    private CommandSpec spec;

    @Override
    @SuppressWarnings("ClosingStandardOutputStreams") // The chaos does not close what it prints to.
    public Integer call() throws InterruptedException {
        long nanos = options.nanos();
        DeviceNotice.print(spec.commandLine().getErr());
        long chosen = seed != null ? seed : new SplittableRandom().nextInt(Integer.MAX_VALUE);
        Collection<String> problems;
        try (Chaos chaos = new Chaos(chosen, options.lease().toNanos(), System.out)) {
            problems = chaos.run(nanos);
        }
        return LoadOptions.end(problems, chosen, System.out);
    }
}
