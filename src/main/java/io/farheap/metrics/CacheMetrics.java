package io.farheap.metrics;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.CallCounts;
import io.farheap.cache.contract.SloReport;
import io.farheap.procedure.CallStatus;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/**
 * A cache's figures beside its objective, tagged {@code cache} with its name: latencies in seconds, throughputs in
 * operations a second. They are those of the last complete period, and not a number before the first one, or if the
 * cache has no objective. {@code farheap.operations} counts all reads and writes of a cache that times any of them; if
 * it times a sample, the count is an estimate. {@code farheap.calls} counts calls of procedures by their outcome.
 */
public final class CacheMetrics implements MeterBinder {

    private final Cache cache;

    public CacheMetrics(Cache cache) {
        this.cache = cache;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        FunctionCounter.builder("farheap.slo.missed", cache, Cache::sloMissed)
                .tag("cache", cache.name())
                .description("periods in which the cache missed its objective")
                .register(registry);
        calls(registry);
        operations(registry, "read", live -> live.latency().sums().reads());
        operations(registry, "write", live -> live.latency().sums().writes());
        latency(registry, "farheap.latency", "read", "average latency", SloReport::readLatencyNanos);
        latency(registry, "farheap.latency", "write", "average latency", SloReport::writeLatencyNanos);
        latency(registry, "farheap.slo.latency", "read", "the maximum of the average latency", report -> report.slo()
                .reads()
                .latencyNanos());
        latency(registry, "farheap.slo.latency", "write", "the maximum of the average latency", report -> report.slo()
                .writes()
                .latencyNanos());
        gauge(registry, "farheap.throughput", "read", "operations a second", SloReport::readsPerSecond);
        gauge(registry, "farheap.throughput", "write", "operations a second", SloReport::writesPerSecond);
        gauge(registry, "farheap.slo.throughput", "read", "the minimum of operations a second", report -> report.slo()
                .reads()
                .perSecond());
        gauge(registry, "farheap.slo.throughput", "write", "the minimum of operations a second", report -> report.slo()
                .writes()
                .perSecond());
    }

    private void calls(MeterRegistry registry) {
        for (int i = 0; i < CallStatus.STATUSES; i++) {
            int status = i;
            FunctionCounter.builder(
                            "farheap.calls", cache, live -> live.callCounts().ended(status))
                    .tag("cache", cache.name())
                    .tag("status", CallStatus.describe(status))
                    .description("calls of procedures that have ended")
                    .register(registry);
        }
        met(registry, "moved on", CallCounts::movedOn);
        met(registry, "held", CallCounts::held);
        met(registry, "here", CallCounts::here);
        Gauge.builder("farheap.calls.latency", cache, live -> live.callCounts().latencyNanos() / 1e9)
                .baseUnit("seconds")
                .tag("cache", cache.name())
                .description("average latency of calls, from issue to callback, of a random sample")
                .register(registry);
    }

    private void met(MeterRegistry registry, String what, ToDoubleFunction<CallCounts> count) {
        FunctionCounter.builder("farheap.calls.met", cache, live -> count.applyAsDouble(live.callCounts()))
                .tag("cache", cache.name())
                .tag("what", what)
                .description("how often calls continued on another server, waited for a moving region, or ran here")
                .register(registry);
    }

    private void operations(MeterRegistry registry, String operation, ToDoubleFunction<Cache> count) {
        FunctionCounter.builder("farheap.operations", cache, count)
                .tag("cache", cache.name())
                .tag("operation", operation)
                .description("operations that have completed")
                .register(registry);
    }

    private void latency(
            MeterRegistry registry,
            String name,
            String operation,
            String description,
            ToDoubleFunction<SloReport> nanos) {
        Gauge.builder(name, cache, live -> of(live, nanos) / 1e9)
                .baseUnit("seconds")
                .tag("cache", cache.name())
                .tag("operation", operation)
                .description(description)
                .register(registry);
    }

    private void gauge(
            MeterRegistry registry,
            String name,
            String operation,
            String description,
            ToDoubleFunction<SloReport> figure) {
        Gauge.builder(name, cache, live -> of(live, figure))
                .tag("cache", cache.name())
                .tag("operation", operation)
                .description(description)
                .register(registry);
    }

    private static double of(Cache cache, ToDoubleFunction<SloReport> figure) {
        return cache.sloReport().map(report -> figure.applyAsDouble(report)).orElse(Double.NaN);
    }
}
