package io.farheap.metrics;

import io.farheap.store.FarStore;
import io.farheap.store.StoreBytes;
import io.farheap.store.contract.StoreCounts;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.function.ToDoubleFunction;

/**
 * Counts of a store's sessions, and its bytes by part, tagged {@code store} with its name. The reads of the device per
 * operation that needed any are {@code farheap.store.device.reads} divided by {@code farheap.store.device.operations}.
 * The age of the newest checkpoint is not a number until one is made after the store was opened, even if the store was
 * recovered from one. No metric contains a key.
 */
public final class StoreMetrics implements MeterBinder {

    private final FarStore store;

    public StoreMetrics(FarStore store) {
        this.store = store;
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        operations(registry, "read", StoreCounts::reads);
        operations(registry, "upsert", StoreCounts::upserts);
        operations(registry, "update", StoreCounts::updates);
        operations(registry, "delete", StoreCounts::deletes);
        counter(
                registry,
                "farheap.store.device.operations",
                "reads and updates whose record was not in memory",
                counts(StoreCounts::onDevice));
        counter(
                registry,
                "farheap.store.device.reads",
                "reads of the device for reads and updates whose record was not in memory",
                counts(StoreCounts::deviceReads));
        bytes(registry, "mutable", StoreBytes::mutable);
        bytes(registry, "read-only", StoreBytes::readOnly);
        bytes(registry, "device", StoreBytes::onDevice);
        bytes(registry, "space", StoreBytes::space);
        bytes(registry, "index", StoreBytes::index);
        counter(registry, "farheap.store.checkpoints", "checkpoints that were made", FarStore::checkpoints);
        counter(
                registry,
                "farheap.store.checkpoint.written",
                "bytes that checkpoints have written beside the log",
                FarStore::checkpointBytes);
        counter(registry, "farheap.store.compacted", "bytes of the log that were given back", FarStore::compactedBytes);
        counter(
                registry,
                "farheap.store.index.growth.failures",
                "times that there was no memory for a larger index",
                FarStore::indexGrowthFailures);
        Gauge.builder("farheap.store.checkpoint.age", store, StoreMetrics::age)
                .baseUnit("seconds")
                .tag("store", store.name())
                .description("time since the newest checkpoint was complete")
                .register(registry);
    }

    private static double age(FarStore store) {
        return store.checkpointAge().map(age -> age.toNanos() / 1e9).orElse(Double.NaN);
    }

    private static ToDoubleFunction<FarStore> counts(ToDoubleFunction<StoreCounts> count) {
        return live -> count.applyAsDouble(live.counts());
    }

    private void operations(MeterRegistry registry, String operation, ToDoubleFunction<StoreCounts> count) {
        FunctionCounter.builder("farheap.store.operations", store, counts(count))
                .tags("store", store.name(), "operation", operation)
                .description("operations that were accepted")
                .register(registry);
    }

    private void counter(MeterRegistry registry, String name, String description, ToDoubleFunction<FarStore> count) {
        FunctionCounter.builder(name, store, count)
                .tag("store", store.name())
                .description(description)
                .register(registry);
    }

    private void bytes(MeterRegistry registry, String part, ToDoubleFunction<StoreBytes> bytes) {
        Gauge.builder("farheap.store.bytes", store, live -> bytes.applyAsDouble(live.bytes()))
                .baseUnit("bytes")
                .tags("store", store.name(), "part", part)
                .description("bytes of the parts of the log, of the device's space and of the index")
                .register(registry);
    }
}
