package io.farheap.cli;

import io.farheap.command.ServerProcess;
import io.farheap.command.Sizes;
import io.farheap.control.ControlException;
import io.farheap.memory.Plurals;
import io.farheap.remote.RemoteMemory;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.resilience.CodedSpace;
import io.farheap.resilience.contract.Health;
import io.farheap.resilience.contract.Resilience;
import io.farheap.time.TimeLimit;
import io.farheap.verbs.Devices;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * {@code farheap demo --resilience K+R --kill N}: pages coded over K + R memory servers, of which N are killed under
 * load, at once. Reads continue while the splits of the killed servers are regenerated on other servers, and at the end
 * every byte is compared with a local copy.
 */
final class CodedDemo implements AutoCloseable {

    private static final int WRONG = 1;
    private static final long PATIENCE_NANOS = TimeLimit.of(60_000_000_000L);
    /** Long, so that a server that was not killed is not lost, however busy the machine is. */
    private static final String LEASE = TimeLimit.of(30) + "s";

    private static final long LOOK_NANOS = 2_000_000;
    private static final long SECOND_NANOS = 1_000_000_000L;
    private static final double BEFORE_SHARE = 0.3;

    private final CodedDemoOptions options;
    private final long slabBytes;
    private final double seconds;
    private final String device;
    private final String serverDevice;
    private final PrintStream out;
    private final List<ServerProcess> running = new CopyOnWriteArrayList<>();

    private final List<String> summary = new ArrayList<>();

    private List<ServerProcess> servers = List.of();
    private volatile boolean ending;
    private long start;
    /** The number of good slabs at the last report of health, and the reports since it changed. */
    private int goodSlabs;

    private final Set<String> said = new HashSet<>();

    /**
     * @param seconds that the load runs at least
     * @param device of the client; empty for the first that serves, as is {@code serverDevice}
     */
    CodedDemo(
            CodedDemoOptions options,
            long slabBytes,
            double seconds,
            String device,
            String serverDevice,
            PrintStream out) {
        this.options = options;
        this.slabBytes = slabBytes;
        this.seconds = seconds;
        this.device = device;
        this.serverDevice = serverDevice;
        this.out = out;
    }

    /** @return 0 if every byte is right */
    int run() {
        Resilience resilience = options.resilience();
        out.printf(
                "code             %s; any %d of %d servers may die, for %.2f bytes of far memory each%n",
                resilience, resilience.paritySplits(), resilience.splits(), resilience.memoryOverhead());
        startServers();
        try (RemoteMemory memory = RemoteMemory.open(device, "farheap-demo")) {
            servers.forEach(server -> patiently(() -> memory.attach(server.address())));
            try (CodedSpace space = patiently(() -> CodedSpace.create(memory, resilience, 1, RemoteServer::domain));
                    CodedDemoLoad load = patiently(() -> new CodedDemoLoad(space))) {
                load.fill();
                out.printf(
                        "space            %,d bytes, filled; slabs are on servers %s%n", space.capacity(), used(space));
                return underLoad(space, load);
            }
        }
    }

    private void startServers() {
        List<Future<ServerProcess>> starting = new ArrayList<>();
        try (ExecutorService starters =
                Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors())) {
            for (int i = 1; i <= options.servers(); i++) {
                String domain = "domain-" + i;
                starting.add(starters.submit(() -> startServer(domain)));
            }
        }
        servers = starting.stream().map(CodedDemo::started).toList();
        for (int i = 0; i < servers.size(); i++) {
            ServerProcess server = servers.get(i);
            out.printf(
                    "memory server %-2d pid %d, %s, room for one slab of %s, --domain domain-%d%n",
                    i + 1, server.pid(), server.address(), Sizes.format(slabBytes), i + 1);
        }
    }

    private ServerProcess startServer(String domain) {
        ServerProcess server = ServerProcess.start(
                Devices.library(), serverDevice, slabBytes, slabBytes, Map.of(), "--lease", LEASE, "--domain", domain);
        running.add(server);
        if (ending) {
            server.close();
        }
        return server;
    }

    private static ServerProcess started(Future<ServerProcess> starting) {
        try {
            return starting.get();
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a memory server did not start", e.getCause());
        }
    }

    /** On a busy machine a server that has just started may not answer in time. */
    private static <T> T patiently(Supplier<T> call) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (true) {
            try {
                return call.get();
            } catch (ControlException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
            }
        }
    }

    private int underLoad(CodedSpace space, CodedDemoLoad load) {
        start = System.nanoTime();
        load.start(start);
        long killAt = start + (long) (seconds * BEFORE_SHARE * 1e9);
        // On a busy machine slabs may have become void: these are good again before a server is killed.
        boolean ready = watch(
                space,
                load,
                () -> System.nanoTime() - killAt >= 0
                        && load.reads() > 0
                        && load.writes() > 0
                        && space.health().whole());
        boolean whole = ready && killAndMend(space, load);
        if (whole) {
            long end = start + (long) (seconds * 1e9);
            watch(space, load, () -> System.nanoTime() - end >= 0);
        }
        if (!load.stop(Duration.ofNanos(PATIENCE_NANOS))) {
            return failed("a request of the load has not ended");
        }
        if (load.trouble() != null) {
            return failed(load.trouble());
        }
        Health health = space.health();
        if (!whole) {
            return failed(describe(health) + (ready ? ", long after the SIGKILL" : ", and no server was killed yet")
                    + "; " + health.latestTrouble());
        }
        out.printf(
                "load             %,d reads by %d threads, each checked, and %,d writes%n",
                load.reads(), CodedDemoLoad.READERS, load.writes());
        summary.forEach(out::println);
        out.printf("health           %s%n", describe(health));
        return verify(space, load);
    }

    /** @return whether the slabs of the killed servers are on other servers */
    private boolean killAndMend(CodedSpace space, CodedDemoLoad load) {
        long readBefore = load.readTimes().getMaxValue();
        long writeBefore = load.writeTimes().getMaxValue();
        Health healthy = space.health();
        List<ServerProcess> victims = victims(space);
        long killed = System.nanoTime();
        say("SIGKILL to memory server%s %s", victims.size() == 1 ? "" : "s", numbers(victims));
        // Each call waits until its server is dead.
        victims.parallelStream().forEach(ServerProcess::kill);
        if (!watch(space, load, () -> isWhole(space, victims))) {
            return false;
        }
        double millis = (System.nanoTime() - killed) / 1e6;
        say("whole again, %,.0f ms after the SIGKILL; slabs are on servers %s", millis, used(space));
        Health mended = space.health();
        Health.Counts then = healthy.counts();
        Health.Counts now = mended.counts();
        summary.add(String.format(
                "meanwhile        %,d reads of pages or parts, %,d of them decoded from other splits; %,d writes, "
                        + "%,d of them on the slabs that were left",
                now.reads() - then.reads(),
                now.decoded() - then.decoded(),
                now.writes() - then.writes(),
                now.degraded() - then.degraded()));
        summary.add(String.format(
                "longest          read %,d us, write %,d us; before the SIGKILL %,d us and %,d us",
                load.readTimes().getMaxValue() / 1000,
                load.writeTimes().getMaxValue() / 1000,
                readBefore / 1000,
                writeBefore / 1000));
        summary.add(String.format(
                "regenerated      %,d of %,d slabs: %,d bytes rebuilt, %,d by their servers, of %,d read, whole %,.0f ms after the SIGKILL",
                mended.regenerated() - healthy.regenerated(),
                mended.slabs(),
                mended.regenerationBytesRebuilt() - healthy.regenerationBytesRebuilt(),
                mended.regenerationBytesByServers() - healthy.regenerationBytesByServers(),
                mended.regenerationBytesRead() - healthy.regenerationBytesRead(),
                millis));
        return true;
    }

    private int verify(CodedSpace space, CodedDemoLoad load) {
        Resilience resilience = space.resilience();
        for (int piece : new int[] {resilience.pageBytes(), resilience.splitBytes()}) {
            CodedDemoLoad.Verdict verdict = load.verify(piece);
            if (load.trouble() != null) {
                return failed(load.trouble());
            }
            if (verdict.wrong() > 0) {
                return failed(String.format(
                        "%,d of %,d bytes differ from the local copy, the first at %,d (%s)",
                        verdict.wrong(), space.capacity(), verdict.first(), space.placeOf(verdict.first(), (int)
                                (verdict.first() % resilience.pageBytes() / resilience.splitBytes()))));
            }
        }
        out.printf(
                "verified         %,d bytes against the local copy, page by page and split by split: "
                        + "every byte is right%n",
                space.capacity());
        return 0;
    }

    private int failed(String how) {
        if (!ending) {
            out.flush();
            System.err.println("farheap: the demo failed: " + how);
        }
        return WRONG;
    }

    /** Chooses servers that have a slab, at random. */
    private List<ServerProcess> victims(CodedSpace space) {
        List<String> used = new ArrayList<>(
                space.serversOf(0).stream().map(RemoteServer::address).toList());
        Collections.shuffle(used);
        List<String> chosen = used.subList(0, options.kill());
        return servers.stream()
                .filter(server -> chosen.contains(server.address()))
                .toList();
    }

    /** Whether all slabs are good, and none is on a killed server. */
    private static boolean isWhole(CodedSpace space, List<ServerProcess> killed) {
        return space.health().whole()
                && space.serversOf(0).stream().noneMatch(server -> killed.stream()
                        .anyMatch(dead -> dead.address().equals(server.address())));
    }

    /**
     * Prints changes of health, and each second the state of the load, until a condition holds.
     *
     * @return false if the load ended first, or if there was no progress for long
     */
    private boolean watch(CodedSpace space, CodedDemoLoad load, BooleanSupplier until) {
        long deadline = System.nanoTime() + (long) (seconds * 1e9) + PATIENCE_NANOS;
        long from = System.nanoTime();
        long reads = load.reads();
        long writes = load.writes();
        while (!until.getAsBoolean()) {
            if (load.trouble() != null || System.nanoTime() - deadline > 0) {
                return false;
            }
            pause();
            sayHealth(space.health());
            long now = System.nanoTime();
            if (now - from >= SECOND_NANOS) {
                say(
                        "load: %,.0f reads/s, %,.0f writes/s",
                        (load.reads() - reads) * 1e9 / (now - from), (load.writes() - writes) * 1e9 / (now - from));
                from = now;
                reads = load.reads();
                writes = load.writes();
            }
        }
        return true;
    }

    /** Prints a change of health; not each new attempt of a regeneration. */
    private void sayHealth(Health health) {
        if (health.goodSlabs() != goodSlabs) {
            goodSlabs = health.goodSlabs();
            said.clear();
        }
        if (said.add(describe(health))) {
            say("%s", describe(health));
        }
    }

    private static void pause() {
        try {
            Thread.sleep(Duration.ofNanos(LOOK_NANOS));
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private void say(String format, Object... arguments) {
        if (!ending) {
            out.printf("%,8.2f s  %s%n", (System.nanoTime() - start) / 1e9, String.format(format, arguments));
        }
    }

    private static String describe(Health health) {
        String missing = health.whole()
                ? ""
                : " (" + health.rebuildingSlabs() + " being regenerated, " + health.voidSlabs() + " void)";
        return health.goodSlabs() + " of " + health.slabs() + " slabs are good" + missing + ": "
                + (health.mayLose() < 0
                        ? "content is lost"
                        : Plurals.of(health.mayLose(), "more server") + " may be lost");
    }

    private String used(CodedSpace space) {
        List<String> used =
                space.serversOf(0).stream().map(RemoteServer::address).toList();
        return numbers(servers.stream()
                .filter(server -> used.contains(server.address()))
                .toList());
    }

    private String numbers(List<ServerProcess> some) {
        return some.stream().map(server -> "" + (servers.indexOf(server) + 1)).collect(Collectors.joining(", "));
    }

    /** Ends the servers. Any thread, also while they are being started. */
    @Override
    public void close() {
        ending = true;
        running.parallelStream().forEach(ServerProcess::close);
    }
}
