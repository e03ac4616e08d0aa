package io.farheap.metrics;

import io.farheap.cache.Cache;
import io.farheap.resilience.contract.Health;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * The state of the promises of a cache with resilience, and counts of its sessions, tagged {@code cache} with its name.
 * Metrics by server cover the servers that the cache has when this is bound.
 */
public final class ResilienceMetrics implements MeterBinder {

    private final Cache cache;

    /** @param cache a cache with resilience */
    public ResilienceMetrics(Cache cache) {
        this.cache = cache;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        slabs(registry, "good", Health::goodSlabs);
        slabs(registry, "rebuilding", Health::rebuildingSlabs);
        slabs(registry, "void", Health::voidSlabs);
        left(
                registry,
                "farheap.resilience.may.lose",
                "how many more servers may be lost; negative if content is lost",
                Health::mayLose);
        left(
                registry,
                "farheap.resilience.may.be.corrupt",
                "how many corrupt splits of a page are detected or corrected; 0 if the mode does neither",
                Health::mayBeCorrupt);
        met(registry, "read", health -> health.counts().reads());
        met(registry, "written", health -> health.counts().writes());
        met(registry, "decoded", health -> health.counts().decoded());
        met(registry, "hedged", health -> health.counts().hedged());
        met(registry, "read again", health -> health.counts().retried());
        met(registry, "degraded", health -> health.counts().degraded());
        met(registry, "disagreed", health -> health.counts().disagreed());
        met(registry, "voided", health -> health.counts().voided());
        met(registry, "late split", health -> health.counts().late());
        counter(registry, "farheap.resilience.regenerated", "slabs regenerated", null, Health::regenerated);
        counter(
                registry,
                "farheap.resilience.evicted",
                "slabs that moved because their servers wanted the memory back",
                null,
                Health::evicted);
        counter(
                registry,
                "farheap.resilience.regeneration.read",
                "bytes read to regenerate slabs",
                null,
                Health::regenerationBytesRead);
        counter(
                registry,
                "farheap.resilience.regeneration.rebuilt",
                "bytes of slabs regenerated",
                null,
                Health::regenerationBytesRebuilt);
        counter(
                registry,
                "farheap.resilience.regeneration.by.servers",
                "bytes of slabs that their servers have regenerated, and not this process",
                null,
                Health::regenerationBytesByServers);
        cache.servers().forEach(address -> server(registry, address));
    }

    private void server(MeterRegistry registry, String address) {
        errors(registry, address, "wrong", Health.Server::wrong);
        errors(registry, address, "failed", Health.Server::failed);
        errors(registry, address, "late", Health.Server::late);
        FunctionCounter.builder(
                        "farheap.resilience.asked", cache, live -> of(live.health(), address, Health.Server::asked))
                .tags("cache", cache.name(), "server", address)
                .description("splits that a server was asked for")
                .register(registry);
        Gauge.builder(
                        "farheap.resilience.suspect",
                        cache,
                        live -> of(live.health(), address, server -> server.suspect() ? 1 : 0))
                .tags("cache", cache.name(), "server", address)
                .description(
                        "1 if the server was above the errorCorrectionLimit recently: reads of it ask for more splits")
                .register(registry);
    }

    private void left(MeterRegistry registry, String name, String description, ToDoubleFunction<Health> count) {
        Gauge.builder(name, cache, live -> count.applyAsDouble(live.health()))
                .tag("cache", cache.name())
                .description(description)
                .register(registry);
    }

    private void errors(MeterRegistry registry, String address, String what, ToDoubleFunction<Health.Server> count) {
        FunctionCounter.builder("farheap.resilience.errors", cache, live -> of(live.health(), address, count))
                .tags("cache", cache.name(), "server", address, "what", what)
                .description("splits of a server that were wrong or late, and connections to it that failed")
                .register(registry);
    }

    private static double of(Health health, String address, ToDoubleFunction<Health.Server> count) {
        return health.servers().stream()
                .filter(server -> server.address().equals(address))
                .mapToDouble(count)
                .sum();
    }

    private void slabs(MeterRegistry registry, String state, ToDoubleFunction<Health> count) {
        Gauge.builder("farheap.resilience.slabs", cache, live -> count.applyAsDouble(live.health()))
                .tags("cache", cache.name(), "state", state)
                .description("slabs that are read (good), being regenerated (rebuilding), or neither (void)")
                .register(registry);
    }

    private void met(MeterRegistry registry, String what, ToDoubleFunction<Health> count) {
        counter(
                registry,
                "farheap.resilience.pages",
                "reads and writes of pages or parts of them, and events that made some take longer",
                what,
                count);
    }

    private void counter(
            MeterRegistry registry,
            String name,
            String description,
            @Nullable String what,
            ToDoubleFunction<Health> count) {
        FunctionCounter.Builder<Cache> counter = FunctionCounter.builder(
                        name, cache, live -> count.applyAsDouble(live.health()))
                .tag("cache", cache.name())
                .description(description);
        if (what != null) {
            counter.tag("what", what);
        }
        counter.register(registry);
    }
}
