package io.farheap.command;

import io.farheap.lifetime.CloseStack;
import io.farheap.measure.LateOperations;
import io.farheap.measure.MeasuredCache;
import io.farheap.memory.Plurals;
import io.farheap.resilience.contract.Resilience;
import io.farheap.thread.idle.Idle;
import io.farheap.verbs.Devices;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The memory server that a model is measured with, or the servers of a coded cache: those that are given or, if none
 * are, servers that are started on this host when their address is asked for. One thread at a time.
 */
public final class ModelServer implements AutoCloseable {

    /** Long: if threads spin on all cores, the thread that renews the lease may have to wait. */
    private static final String LEASE = "60s";

    private final List<String> given;
    private final @Nullable Resilience resilience;
    private final List<ServerProcess> started = new ArrayList<>();

    /** @param given HOST:PORT */
    public ModelServer(@Nullable String given) {
        this(given == null ? List.of() : List.of(given), null);
    }

    /**
     * @param given each HOST:PORT, or none
     * @param resilience of the cache, or null
     */
    public ModelServer(List<String> given, @Nullable Resilience resilience) {
        int wanted = resilience == null ? 1 : resilience.splits();
        if (!given.isEmpty() && (resilience == null ? given.size() != 1 : given.size() < wanted)) {
            throw new IllegalArgumentException(
                    "--server " + String.join(",", given) + ": the cache that is measured has "
                            + Plurals.of(wanted, "server") + "; name as many, or none to start them here");
        }
        this.given = List.copyOf(given);
        this.resilience = resilience;
    }

    /** Returns HOST:PORT of the first server. */
    public String address() {
        return addresses().getFirst();
    }

    /** Returns HOST:PORT of each server. */
    public List<String> addresses() {
        if (!given.isEmpty()) {
            return given;
        }
        int wanted = resilience == null ? 1 : resilience.splits();
        while (started.size() < wanted) {
            started.add(start("model-" + started.size()));
        }
        return started.stream().map(ServerProcess::address).toList();
    }

    private ServerProcess start(String domain) {
        long region = region();
        return ServerProcess.start(
                Devices.library(),
                "",
                2 * region,
                region,
                LateOperations.environment(),
                "--idle",
                resilience == null ? Idle.SPIN.name() : Idle.PARK.name(),
                "--domain",
                domain,
                "--lease",
                LEASE);
    }

    /** Returns the bytes of a region: of a coded cache a k-th part, so that one range has all of the cache. */
    private long region() {
        return resilience == null
                ? MeasuredCache.CAPACITY
                : Long.highestOneBit(2 * ((MeasuredCache.CAPACITY - 1) / resilience.dataSplits()));
    }

    /** Returns this process and those of the servers that were started here. */
    public List<ProcessHandle> processes() {
        return Stream.concat(
                        Stream.of(ProcessHandle.current()),
                        started.stream().flatMap(server -> ProcessHandle.of(server.pid()).stream()))
                .toList();
    }

    @Override
    public void close() {
        try (CloseStack all = new CloseStack()) {
            started.forEach(all::add);
        }
    }
}
