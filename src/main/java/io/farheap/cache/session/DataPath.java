package io.farheap.cache.session;

import io.farheap.cache.batch.SessionBatches;
import io.farheap.cache.batch.SessionRings;
import io.farheap.cache.contract.CacheConfiguration;
import io.farheap.cache.onesided.BounceBuffers;
import io.farheap.cache.onesided.RequestRecovery;
import io.farheap.cache.onesided.SessionConnections;
import io.farheap.cache.onesided.SessionEngine;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.route.MigrationLinks;
import io.farheap.cache.route.Routes;
import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.migration.region.RegionTable;
import io.farheap.remote.device.OpenDevice;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.remote.queue.QueueConnections;
import io.farheap.remote.queue.QueuePoster;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The way of a session's requests to the servers under one configuration, with the resources that it holds.
 * Reconfiguring a cache gives each session another data path.
 *
 * @param requests of the session
 * @param links the session's connections to servers
 * @param channel on which completions raise events, or null if another thread waits for them
 * @param onClose frees the resources that it holds beside the links and the channel
 * @param closed receives a future that completes when everything is closed, which may be after {@link #close} returns
 */
public record DataPath(
        RequestPath requests,
        MigrationLinks links,
        @Nullable CompletionChannel channel,
        Runnable onClose,
        Consumer<CompletableFuture<Void>> closed)
        implements AutoCloseable {

    private static final int COMPLETION_BATCH = 32;
    /** Room in the completion queue for one drain of each server. */
    private static final int DRAIN_ENTRIES = 256;

    /**
     * Makes a path for a session whose own thread processes its requests. It is not connected to any server yet.
     *
     * @param news makes the session's next poll look at held requests, and wakes its thread
     */
    public static DataPath own(
            OpenDevice device,
            RegionTable table,
            CacheSessionOptions options,
            CacheConfiguration how,
            OwnerGate gate,
            Runnable news,
            @Nullable OperationLatency latency) {
        int entries = options.completionEntries(how, device.context().limits());
        try (CloseStack stack = new CloseStack()) {
            CompletionChannel channel = stack.add(device.context().createCompletionChannel());
            CompletionQueue queue = stack.add(
                    device.context().createCompletionQueue(entries + DRAIN_ENTRIES, COMPLETION_BATCH, channel));
            BounceBuffers bounce = stack.add(new BounceBuffers(device.domain()));
            QueueConnections connections = new QueueConnections();
            Routes routes = new Routes(table, connections);
            QueueCompletions completions =
                    new QueueCompletions(queue, entries, entries + DRAIN_ENTRIES, connections, routes::forget);
            QueuePoster poster = new QueuePoster(connections, completions);
            RequestRecovery recovery = new RequestRecovery(options.patienceNanos(), System::nanoTime, news);
            SessionEngine engine = new SessionEngine(
                    routes,
                    poster,
                    completions,
                    device.maxMessageBytes(),
                    bounce,
                    latency,
                    options.requests(),
                    recovery);
            MigrationLinks oneSided = new SessionConnections(
                    gate,
                    poster,
                    routes,
                    queue,
                    device.domain(),
                    device.scratch(),
                    how,
                    options.doorbellBatch(),
                    recovery);
            Runnable free = () -> Closeables.all(completions, bounce);
            RequestPath requests = engine;
            MigrationLinks links = oneSided;
            if (how.batched()) {
                SessionBatches batches =
                        new SessionBatches(engine, poster, routes, latency, options.requests(), recovery);
                requests = batches;
                links = new SessionRings(oneSided, gate, batches, device.context(), channel, how, recovery);
            }
            recovery.maker(links::ensure);
            stack.keep();
            return new DataPath(requests, links, channel, free, device.lifetime()::closesLater);
        }
    }

    @Override
    public void close() {
        try {
            Closeables.all(links, onClose::run);
        } finally {
            if (channel != null) {
                // The rings' completion queues use the channel: it is closed after them.
                closed.accept(links.closed().thenRun(channel::close));
            }
        }
    }
}
