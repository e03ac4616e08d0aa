package io.farheap.metrics;

import io.farheap.kv.FarMap;
import io.farheap.kv.contract.MapCounts;
import io.farheap.kv.contract.MapException;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/**
 * Counts of the sessions of a map in this process, tagged {@code map} with its name. {@code farheap.map.weight}, the
 * {@linkplain FarMap#weights weights} by expert, asks a server, and is not a number if that does not answer; all else
 * is counted in this process. No metric contains a key.
 */
public final class MapMetrics implements MeterBinder {

    private final FarMap map;

    public MapMetrics(FarMap map) {
        this.map = map;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        requests(registry, "hit", MapCounts::hits);
        requests(registry, "miss", MapCounts::misses);
        requests(registry, "stored", MapCounts::stored);
        requests(registry, "refused", MapCounts::refused);
        requests(registry, "deleted", MapCounts::deleted);
        requests(registry, "touched", MapCounts::touched);
        requests(registry, "no room", MapCounts::noRoom);
        requests(registry, "lost", MapCounts::lost);
        posted(registry, "read", counts -> counts.posted().reads());
        posted(registry, "write", counts -> counts.posted().writes());
        posted(registry, "compare-and-swap", counts -> counts.posted().swaps());
        posted(registry, "fetch-and-add", counts -> counts.posted().adds());
        met(registry, "pointer hit", MapCounts::pointerHits);
        met(registry, "stale pointer", MapCounts::stalePointers);
        met(registry, "call", MapCounts::calls);
        met(registry, "renewal", MapCounts::renewals);
        met(registry, "read again", MapCounts::readAgain);
        met(registry, "swap lost", MapCounts::swapsLost);
        met(registry, "victim lost", MapCounts::victimsLost);
        met(registry, "crowded out", MapCounts::crowdedOut);
        met(registry, "unlinked", MapCounts::unlinked);
        met(registry, "claim removed", MapCounts::claimsRemoved);
        met(registry, "moved", MapCounts::moved);
        for (String expert : map.counts().evictedBy().keySet()) {
            byExpert(
                    registry,
                    "farheap.map.evictions",
                    expert,
                    "evicted objects that the expert had named as victims",
                    counts -> counts.evictedBy().get(expert));
            byExpert(
                    registry,
                    "farheap.map.regrets",
                    expert,
                    "misses of keys that the expert had named as victims not long before",
                    counts -> counts.regrets().get(expert));
            Gauge.builder("farheap.map.weight", map, live -> weight(live, expert))
                    .tag("map", map.name())
                    .tag("expert", expert)
                    .description("the expert's weight, 0 to 1, which all sessions of the map have learned")
                    .register(registry);
        }
    }

    private static double weight(FarMap map, String expert) {
        try {
            return map.weights().getOrDefault(expert, Double.NaN);
        } catch (MapException | IllegalStateException e) {
            // No server answers, or the map is closed.
            return Double.NaN;
        }
    }

    private void requests(MeterRegistry registry, String outcome, ToDoubleFunction<MapCounts> count) {
        counter(registry, "farheap.map.requests", "outcome", outcome, "requests that have ended", count);
    }

    private void posted(MeterRegistry registry, String kind, ToDoubleFunction<MapCounts> count) {
        counter(registry, "farheap.map.posted", "kind", kind, "operations that sessions have posted", count);
    }

    private void met(MeterRegistry registry, String what, ToDoubleFunction<MapCounts> count) {
        counter(registry, "farheap.map.met", "what", what, "events that slowed requests, and repairs", count);
    }

    private void byExpert(
            MeterRegistry registry, String name, String expert, String description, ToDoubleFunction<MapCounts> count) {
        counter(registry, name, "expert", expert, description, count);
    }

    private void counter(
            MeterRegistry registry,
            String name,
            String tag,
            String value,
            String description,
            ToDoubleFunction<MapCounts> count) {
        FunctionCounter.builder(name, map, live -> count.applyAsDouble(live.counts()))
                .tags("map", map.name(), tag, value)
                .description(description)
                .register(registry);
    }
}
