package io.farheap.soak;

import io.farheap.command.ChildJvm;
import io.farheap.command.DeviceNotice;
import io.farheap.command.ServerProcess;
import io.farheap.command.Subcommand;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code farheap soak}: everything at once, for as long as one likes. Exit code 1 where a byte was wrong. */
@Command(
        name = "soak",
        mixinStandardHelpOptions = true,
        description = "Use caches in all ways while regions move, servers and clients are stopped (SIGSTOP) and killed "
                + "and the software device fails, and check every byte, and how long others wait.")
public final class SoakCommand implements Subcommand, Callable<Integer> {

    @Mixin
    private LoadOptions options;

    @Option(
            names = "--seed",
            paramLabel = "S",
            description = "of all that is random but time (default: another each time)")
    private @Nullable Long seed;

    @Spec
    private CommandSpec spec;

    @Override
    @SuppressWarnings("ClosingStandardOutputStreams") // The soak does not close what it prints to.
    public Integer call() throws InterruptedException {
        long nanos = options.nanos();
        DeviceNotice.print(spec.commandLine().getErr());
        long chosen = seed != null ? seed : new SplittableRandom().nextLong();
        System.out.printf("seed %d%n", chosen);
        Collection<String> problems;
        try (Soak soak = new Soak(new Processes(options.lease(), new AtomicInteger()), chosen, System.out)) {
            problems = soak.run(nanos);
        }
        return LoadOptions.end(problems, chosen, System.out);
    }

    /** Processes on this host. */
    private record Processes(Duration lease, AtomicInteger started) implements SoakHost {

        /** Of one server after the other: calls go from servers that run them to some that do not. */
        private static final List<String> PROCEDURES = List.of("java", "java", "built-in");

        @Override
        public SoakServer startServer(long memoryBytes, long regionBytes) {
            ServerProcess process = ServerProcess.start(
                    Devices.library(),
                    "",
                    memoryBytes,
                    regionBytes,
                    Map.of(),
                    "--lease",
                    lease.toMillis() + "ms",
                    "--procedures",
                    PROCEDURES.get(started.getAndIncrement() % PROCEDURES.size()));
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
                public void suspend() {
                    process.suspend();
                }

                @Override
                public void resume() {
                    process.resume();
                }

                @Override
                public void close() {
                    process.close();
                }
            };
        }

        @Override
        public SoakClient startClient(List<String> arguments) {
            List<String> command = new ArrayList<>(List.of(SoakTenant.class.getName()));
            command.addAll(arguments);
            ChildJvm jvm;
            try {
                jvm = ChildJvm.start(Devices.library(), Map.of(), List.of("-Xmx128m"), command);
            } catch (IOException e) {
                throw new UncheckedIOException("cannot start a client process", e);
            }
            return new SoakClient() {
                @Override
                public String line() throws IOException {
                    return jvm.output().readLine();
                }

                @Override
                public void tell(String line) throws IOException {
                    jvm.input().write(line + "\n");
                    jvm.input().flush();
                }

                @Override
                public void kill() {
                    jvm.kill();
                }

                @Override
                public void suspend() {
                    jvm.suspend();
                }

                @Override
                public void resume() {
                    jvm.resume();
                }

                @Override
                public void close() {
                    jvm.close();
                }
            };
        }

        @Override
        public long leaseNanos() {
            return lease.toNanos();
        }
    }
}
