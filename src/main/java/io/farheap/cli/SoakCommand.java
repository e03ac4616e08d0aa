package io.farheap.cli;

import io.farheap.cli.soak.Soak;
import io.farheap.cli.soak.SoakServer;
import io.farheap.verbs.Devices;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.util.Collection;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;

/** {@code farheap soak}: everything at once, for as long as one likes. Exit code 1 where a byte was wrong. */
@Command(name = "soak", mixinStandardHelpOptions = true,
    description = "Use caches in all ways while regions move, servers are killed and the software device fails, and check every byte.")
final class SoakCommand implements Callable<Integer> {

    private static final double NANOS_PER_MINUTE = 60e9;
    /** Long enough for a machine that is so busy that a client does not come to renew it. */
    private static final String LEASE = "60s";

    @Option(names = "--minutes", paramLabel = "N", defaultValue = "1", description = "how long, such as 0.5 (default: ${DEFAULT-VALUE})")
    private double minutes;

    @Option(names = "--seed", paramLabel = "S", description = "of all that is random but time (default: another each time)")
    private Long seed;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        if (!(minutes > 0)) {
            throw new IllegalArgumentException("--minutes " + minutes + ": it must be more than 0");
        }
        DeviceNotice.print(spec.commandLine().getErr());
        long chosen = seed != null ? seed : new SplittableRandom().nextLong();
        System.out.printf("seed %d%n", chosen);
        Collection<String> problems;
        try (Soak soak = new Soak(SoakCommand::start, chosen, System.out)) {
            problems = soak.run((long) (minutes * NANOS_PER_MINUTE));
        }
        problems.forEach(problem -> System.out.println("WRONG: " + problem));
        System.out.printf("%s (seed %d)%n", problems.isEmpty() ? "every byte was right" : "FAILED", chosen);
        return problems.isEmpty() ? 0 : 1;
    }

    private static SoakServer start(long memoryBytes, long regionBytes) {
        ServerProcess process = ServerProcess.start(Devices.library(), "", memoryBytes, regionBytes, Map.of(), "--lease", LEASE);
        return new SoakServer() {
            @Override
            public String address() {
                return process.address();
            }

            @Override
            public void kill() {
                process.kill();
            }

            @Override
            public void close() {
                process.close();
            }
        };
    }
}
