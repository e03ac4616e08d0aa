package io.farheap.cli;

import io.farheap.command.AddressOptions;
import io.farheap.command.DeviceNotice;
import io.farheap.command.Durations;
import io.farheap.command.Percent;
import io.farheap.command.Sizes;
import io.farheap.command.Subcommand;
import io.farheap.command.Termination;
import io.farheap.control.ManagerKey;
import io.farheap.memory.Plurals;
import io.farheap.server.MemoryServer;
import io.farheap.server.contract.CallInterleaving;
import io.farheap.server.contract.Headroom;
import io.farheap.server.contract.ServedCode;
import io.farheap.server.contract.ServerLimits;
import io.farheap.server.contract.ServerOptions;
import io.farheap.thread.idle.Idle;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs a memory server until SIGTERM, SIGINT or, if that is asked for, the end of standard input. */
@Command(
        name = "server",
        description = "Donate memory: serve regions of it to clients until SIGTERM, Ctrl-C, or farheap manager drain.",
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
            description =
                    "Address of the control plane for clients; port 0 takes a free port (default: ${DEFAULT-VALUE}).")
    private String listen;

    @Option(
            names = "--lease",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "3s",
            description = "A client that is silent for this long loses its regions and connections "
                    + "(default: ${DEFAULT-VALUE}).")
    private Duration lease;

    @Option(
            names = "--device",
            paramLabel = "NAME",
            defaultValue = "",
            description = "RDMA device, NAME or NAME:PORT, see 'farheap devices' (default: the first that serves).")
    private String device;

    @Mixin
    private AddressOptions address = new AddressOptions();

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
                    "How these threads wait between batches: ${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
    private Idle idle;

    @Option(names = "--no-pinning", description = "Let these threads run on any core.")
    private boolean unpinned;

    @Option(
            names = "--max-leases",
            paramLabel = "N",
            defaultValue = "0",
            description = "Most leases (clients) at a time; one client process may have a quarter of them (default: as "
                    + "many as the device supports).")
    private int leases;

    @Option(
            names = "--max-queue-pairs",
            paramLabel = "N",
            defaultValue = "0",
            description = "Most queue pairs for all clients; one client may have a quarter of them (default: as many "
                    + "as the device supports).")
    private int queuePairs;

    @Option(
            names = "--ring-memory",
            paramLabel = "SIZE",
            converter = Sizes.class,
            defaultValue = "0",
            description = "Memory for the message rings of all clients, in addition to --memory (default: a quarter of "
                    + "the memory that is available then).")
    private long ringMemory;

    @Option(
            names = "--headroom",
            paramLabel = "PERCENT",
            converter = Percent.class,
            defaultValue = "0%",
            description =
                    "Part of the machine's memory to keep free, such as 25%%: while less is free, free regions go back "
                            + "to the machine, coded caches are asked for the regions that they use least, and a "
                            + "manager moves as many regions of its caches (default: none).")
    private int headroom;

    @Option(names = "--name", paramLabel = "TEXT", description = "Name that clients receive (default: the address).")
    private @Nullable String name;

    @Option(
            names = "--domain",
            paramLabel = "TEXT",
            defaultValue = "",
            description = "Failure domain, such as the rack or the host: a coded cache uses at most one server of each "
                    + "domain for a page (default: this server alone).")
    private String domain;

    @Option(
            names = "--procedures",
            paramLabel = "WHOSE",
            converter = ServedCodeConverter.class,
            defaultValue = "built-in",
            description = "Which stored procedures run on --threads: off, built-in (the classes that come with "
                    + "Farheap) or java (classes of clients, verified; see SECURITY.md) (default: ${DEFAULT-VALUE}).")
    private ServedCode procedures;

    @Option(
            names = "--turns",
            paramLabel = "WHEN",
            defaultValue = "MEASURED",
            description = "When calls of procedures take turns at each access, so that their cache misses overlap: "
                    + "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}: if that is faster).")
    private CallInterleaving turns;

    @Option(
            names = "--manager",
            paramLabel = "HOST:PORT",
            split = ",",
            description = "Cache managers that allocate this server's memory to caches; the server reports to the "
                    + "first that answers.")
    private List<String> managers = List.of();

    @Option(
            names = "--type",
            paramLabel = "TEXT",
            defaultValue = "default",
            description = "The machine's type in the manager's menu (default: ${DEFAULT-VALUE}).")
    private String type;

    @Option(
            names = "--spot",
            description = "The machine may be reclaimed at any time: it gets only caches that end, at the menu's spot "
                    + "price, and no more than can leave within --notice.")
    private boolean spot;

    @Option(
            names = "--place",
            paramLabel = "DC/CLUSTER/RACK",
            defaultValue = "local/local/local",
            description = "Place of the machine in the network, for the manager (default: ${DEFAULT-VALUE}).")
    private String place;

    @Option(
            names = "--notice",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "30s",
            description = "Time that the manager's caches have to leave after SIGTERM, before the server ends "
                    + "(default: ${DEFAULT-VALUE}).")
    private Duration notice;

    @Option(
            names = "--until-stdin-closes",
            description = "Stop also when standard input ends, so that a child does not outlive its parent.")
    private boolean untilStdinCloses;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        ServerOptions options = new ServerOptions(
                memory,
                region,
                lease.toNanos(),
                address.port(device),
                name == null ? listen : name,
                threads == 0 ? ServerOptions.defaultThreads() : threads,
                !unpinned,
                idle,
                new ServerLimits(leases, queuePairs, ringMemory),
                domain,
                procedures,
                turns,
                Headroom.of(headroom));
        DeviceNotice.print(spec.commandLine().getErr());
        Termination termination = Termination.watch(untilStdinCloses);
        try (MemoryServer server = MemoryServer.open(options)) {
            // The server must require grants before any client can call.
            Consumer<ManagerKey> keys = managers.isEmpty() ? _ -> {} : server.requireGrants();
            serve(server, keys, options, termination);
        }
        return 0;
    }

    private void serve(MemoryServer server, Consumer<ManagerKey> keys, ServerOptions options, Termination termination)
            throws InterruptedException {
        String address = server.serve(listen);
        PrintWriter out = spec.commandLine().getOut();
        out.println("farheap server listening on " + address + ": "
                + Plurals.of(options.regions(), "region") + " of " + Sizes.format(region) + " on "
                + server.device());
        if (options.procedures() == ServedCode.JAVA) {
            out.println("stored procedures: clients' own classes are verified, translated and run here, on "
                    + Plurals.of(options.threads(), "thread"));
        }
        out.flush();
        if (managers.isEmpty()) {
            termination.await();
        } else {
            serveManaged(server, keys, address, termination);
        }
    }

    private void serveManaged(MemoryServer server, Consumer<ManagerKey> keys, String address, Termination termination)
            throws InterruptedException {
        try (ManagedServer managed =
                new ManagedServer(server, managers, address, type, spot, place, notice, keys, termination::stop)) {
            termination.await();
            managed.leave(termination::parentGone);
        }
    }
}
