package io.farheap.measure;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheBuilder;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.latency.LatencyTracking;
import io.farheap.resilience.contract.Resilience;
import io.farheap.slo.Configuration;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Performance;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A cache to measure, on one memory server, or, if it is coded, on as many as its resilience needs. It is created at
 * the first measurement, since a complete model needs none. The server's threads should spin, as those of a dedicated
 * server do: a thread that yields between two batches loses a time slice whenever other threads run. One thread at a
 * time.
 */
public final class MeasuredCache implements Measurement, AutoCloseable {

    /** The capacity of the cache, in bytes. */
    public static final long CAPACITY = 64L << 20;

    private final ModelSubject subject;
    private final @Nullable Resilience resilience;
    private final Supplier<List<String>> servers;
    private final long seed;
    /** Open all the time, so that softverbs counts the late operations of the whole run. */
    private @Nullable Context context;

    private @Nullable CacheMeasurement measurement;

    /**
     * @param server returns HOST:PORT when the first measurement begins; its owner ends the server after this is closed
     * @param seed of the load
     */
    public MeasuredCache(ModelSubject subject, Supplier<String> server, long seed) {
        this(subject, null, () -> List.of(server.get()), seed);
    }

    /**
     * @param resilience the subject's, or null if it has none
     * @param servers returns HOST:PORT of servers in k + r failure domains when the first measurement begins
     * @throws IllegalArgumentException if the subject has another resilience, or records larger than {@link #CAPACITY}
     */
    public MeasuredCache(
            ModelSubject subject, @Nullable Resilience resilience, Supplier<List<String>> servers, long seed) {
        if (!subject.resilience().equals(resilience == null ? ModelSubject.PLAIN : resilience.toString())) {
            throw new IllegalArgumentException("a model of resilience " + subject.resilience()
                    + " measured on a cache with " + resilience + "; take the same");
        }
        if (subject.recordBytes() > CAPACITY) {
            throw new IllegalArgumentException("records of " + subject.recordBytes() + " bytes; the measured cache has "
                    + CAPACITY + " bytes, so take smaller ones");
        }
        this.subject = subject;
        this.resilience = resilience;
        this.servers = servers;
        this.seed = seed;
    }

    @Override
    public Performance measure(Configuration configuration) throws InterruptedException {
        return measure(configuration, () -> {});
    }

    /**
     * As {@link #measure(Configuration)}.
     *
     * @param begun runs on the calling thread under load, after the warm-up and before what counts: such as a counter
     *     that starts again
     */
    public Performance measure(Configuration configuration, Runnable begun) throws InterruptedException {
        if (measurement == null) {
            measurement = start();
        }
        return measurement.measure(configuration, begun);
    }

    private CacheMeasurement start() {
        if (context == null) {
            context = Devices.open();
            LateOperations.allow(context);
        }
        CacheBuilder builder = Cache.builder()
                .capacity(CAPACITY)
                .servers(servers.get())
                .name("farheap-model")
                .trackLatency(LatencyTracking.SPARSE)
                .configuration(CacheConfiguration.DIRECT.withQueueDepth(1));
        Cache cache = (resilience == null ? builder : builder.resilience(resilience)).create();
        return new CacheMeasurement(cache, subject, seed);
    }

    @Override
    public void close() {
        try {
            if (measurement != null) {
                measurement.close();
            }
        } finally {
            if (context != null) {
                context.close();
            }
        }
    }
}
