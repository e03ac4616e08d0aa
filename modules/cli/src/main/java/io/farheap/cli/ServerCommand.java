package io.farheap.cli;

import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.Sizes;
import io.farheap.command.Subcommand;
import io.farheap.control.ControlServer;
import io.farheap.server.MemoryServer;
import io.farheap.server.ServerLimits;
import io.farheap.server.ServerOptions;
import io.farheap.thread.Idle;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import sun.misc.Signal;

/** Runs a memory server until SIGTERM, SIGINT or, where asked to, the end of standard input. */
@Command(
        name = "server",
        description = "Donate memory: serve regions of it to clients until SIGTERM or Ctrl-C.",
        mixinStandardHelpOptions = true,
        versionProvider = Main.Version.class,
        sortOptions = false)
public final class ServerCommand implements Subcommand, Callable<Integer> {

    @Option(
            names = "--memory",
            required = true,
            paramLabel = "SIZE",
            converter = Sizes.class,
            description =
                    "Memory to donate, such as 1g; a multiple of the region size. It is taken and registered at start.")
    private long memory;

    @Option(
            names = "--region",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "64m",
            description = "Size of a region, a power of two of at least 64k (default: ${DEFAULT-VALUE}).")
    private long region;

    @Option(
            names = "--listen",
            paramLabel = "HOST:PORT",
            defaultValue = "127.0.0.1:7400",
            description = "Where clients reach the control plane; port 0 takes a free one (default: ${DEFAULT-VALUE}).")
    private String listen;

    @Option(
            names = "--lease",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "3s",
            description = "A client that is silent for this long loses what it holds (default: ${DEFAULT-VALUE}).")
    private Duration lease;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            defaultValue = "",
            description = "RDMA device, see 'farheap devices' (default: the first with an active port).")
    private String device;

    @Option(
            names = "--threads",
            paramLabel = "N",
            defaultValue = "0",
            description = "Threads that may serve batches, for clients that ask for them (default: one for each core).")
    private int threads;

    @Option(
            names = "--idle",
            paramLabel = "HOW",
            defaultValue = "PARK",
            description =
                    "What these threads do between batches: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Idle idle;

    @Option(names = "--no-pinning", description = "Let these threads run on any core.")
    private boolean unpinned;

    @Option(
            names = "--max-leases",
            paramLabel = "N",
            defaultValue = "0",
            description = "Leases (clients) at a time; one client process may have a quarter (default: as many as "
                    + "the device bears).")
    private int leases;

    @Option(
            names = "--max-queue-pairs",
            paramLabel = "N",
            defaultValue = "0",
            description = "Queue pairs for all clients; one client may have a quarter (default: as many as the device "
                    + "bears).")
    private int queuePairs;

    @Option(
            names = "--ring-memory",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "0",
            description = "Memory for message rings of all clients, beside --memory (default: a quarter of what is "
                    + "available then).")
    private long ringMemory;

    @Option(names = "--name", paramLabel = "TEXT", description = "Name that clients are told (default: the address).")
    private String name;

    @Option(
            names = "--until-stdin-closes",
            description = "Stop also when standard input ends, so that a child does not outlive its parent.")
    private boolean untilStdinCloses;

    @Spec
    private CommandSpec spec;

    /** As a shell says that a signal ended a process. */
    private static final int SIGNAL_EXIT = 128;

    private final CountDownLatch stop = new CountDownLatch(1);
    private final AtomicBoolean signalled = new AtomicBoolean();

    @Override
    public Integer call() throws InterruptedException {
        ServerOptions options = new ServerOptions(
                memory,
                region,
                lease.toNanos(),
                device,
                name == null ? listen : name,
                threads == 0 ? ServerOptions.defaultThreads() : threads,
                !unpinned,
                idle,
                new ServerLimits(leases, queuePairs, ringMemory));
        DeviceNotice.print(spec.commandLine().getErr());
        Signal.handle(new Signal("TERM"), this::stop);
        Signal.handle(new Signal("INT"), this::stop);
        if (untilStdinCloses) {
            Thread watcher = new Thread(() -> awaitEnd(System.in), "farheap-stdin");
            watcher.setDaemon(true);
            watcher.start();
        }
        try (MemoryServer server = MemoryServer.open(options);
                ControlServer control = ControlServer.start(listen, server)) {
            PrintWriter out = spec.commandLine().getOut();
            out.println("farheap server listening on " + control.address() + ": " + options.regions()
                    + (options.regions() == 1 ? " region of " : " regions of ") + Sizes.format(region) + " on "
                    + server.deviceName());
            out.flush();
            stop.await();
        }
        return 0;
    }

    /** The first signal stops the server in order, a second one at once. */
    private void stop(Signal signal) {
        if (signalled.getAndSet(true)) {
            Runtime.getRuntime().halt(SIGNAL_EXIT + signal.getNumber());
        }
        stop.countDown();
    }

    private void awaitEnd(InputStream in) {
        try {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // As good as its end.
        }
        stop.countDown();
    }
}
