package io.farheap.manager.service.commands;

import io.farheap.command.Durations;
import io.farheap.manager.provider.RegisteredServers;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.manager.service.Supply;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import picocli.CommandLine.Option;

/** The options of {@code farheap manager} that say where its servers come from. */
final class SupplyOptions {

    @Option(
            names = "--provider",
            paramLabel = "NAME",
            defaultValue = RegisteredServers.NAME,
            description = "Provider that starts servers if there is no room: 'registered' starts none, since all "
                    + "servers register themselves; 'local' starts processes of this host, to try things "
                    + "(default: ${DEFAULT-VALUE}).")
    private String provider = RegisteredServers.NAME;

    @Option(
            names = "--provider-set",
            paramLabel = "KEY=VALUE",
            description = "A setting of the provider; may be repeated. Settings of 'local', with their defaults: "
                    + "servers=N at most (8); memory=SIZE (the menu's) and region=SIZE (64m) of each server, "
                    + "memory.TYPE and region.TYPE of servers of a type; for spot servers life=TIME on average and "
                    + "notice=TIME (the menu's), seed=N of the lives (1); device=NAME.")
    private Map<String, String> settings = Map.of();

    @Option(
            names = "--start-wait",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "60s",
            description = "Time that an allocation waits at most for servers that are started for it "
                    + "(default: ${DEFAULT-VALUE}).")
    private Duration startWait = Duration.ZERO;

    @Option(
            names = "--stop-idle",
            paramLabel = "TIME",
            converter = Durations.class,
            defaultValue = "5m",
            description = "A server that was started by the provider and has been empty for this long is stopped "
                    + "(default: ${DEFAULT-VALUE}).")
    private Duration stopIdle = Duration.ZERO;

    @Option(
            names = "--spares",
            paramLabel = "N",
            defaultValue = "0",
            description = "Keep room for caches on servers that leave, as much as the N largest servers have; a "
                    + "provider starts servers for it (default: ${DEFAULT-VALUE}).")
    private int spares;

    Supply supply() {
        return new Supply(spares, startWait.toNanos(), stopIdle.toNanos());
    }

    Map<String, String> settings() {
        return settings;
    }

    /** @throws IllegalArgumentException if there is no provider of this name */
    ServerProvider.Factory provider() {
        List<ServerProvider.Factory> all = ServiceLoader.load(ServerProvider.Factory.class).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        return all.stream()
                .filter(one -> one.name().equals(provider))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("--provider " + provider + ": there are "
                        + all.stream()
                                .map(ServerProvider.Factory::name)
                                .sorted()
                                .collect(Collectors.joining(", "))));
    }
}
