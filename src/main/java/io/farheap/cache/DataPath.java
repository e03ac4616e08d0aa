package io.farheap.cache;

import io.farheap.latency.OperationLatency;
import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closing;
import io.farheap.migration.RegionTable;
import io.farheap.remote.RemoteRegion;
import io.farheap.remote.RemoteServer;
import io.farheap.thread.OwnerGate;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.CompletionQueue;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * What a session's requests go through under one configuration, with all that it holds. Reconfiguring a cache gives each session another.
 *
 * @param requests of the session
 * @param links    to the servers
 * @param channel  on which completions raise events, or null where another thread waits for them
 * @param onClose  frees what it holds beside the links and the channel
 * @param closed   told what completes when all is closed, which may be later than {@link #close} returns
 */
record DataPath(RequestPath requests, Links links, CompletionChannel channel, Runnable onClose,
                Consumer<CompletableFuture<Void>> closed) implements AutoCloseable {

    private static final int COMPLETION_BATCH = 32;
    /** Room in the completion queue for one flush of each server. */
    private static final int FLUSH_ENTRIES = 256;

    /** For a session whose thread processes its requests. It is not connected to any server yet. */
    static DataPath own(Cache cache, CacheOptions options, CacheConfiguration how, OwnerGate gate, OperationLatency latency) {
        int entries = options.completionEntries(how, cache.context().limits());
        try (CloseStack stack = new CloseStack()) {
            CompletionChannel channel = stack.add(cache.context().createCompletionChannel());
            CompletionQueue queue = stack.add(cache.context().createCompletionQueue(entries + FLUSH_ENTRIES, COMPLETION_BATCH, channel));
            BounceBuffers bounce = stack.add(new BounceBuffers(cache.domain()));
            SessionEngine engine = new SessionEngine(cache.table(), queue, entries, entries + FLUSH_ENTRIES, cache.maxMessageBytes(), bounce,
                latency, options.requests());
            Links connections = new SessionConnections(gate, engine, queue, cache.domain(), cache.scratch(), how, options.doorbellBatch());
            Runnable free = () -> Closing.all(queue, bounce);
            RequestPath requests = engine;
            Links links = connections;
            if (how.batched()) {
                SessionBatches batches = new SessionBatches(engine, cache.table(), latency, options.requests());
                requests = batches;
                links = new SessionRings(connections, gate, batches, cache.context(), channel, how);
            }
            stack.keep();
            return new DataPath(requests, links, channel, free, cache.contextLifetime()::closesLater);
        }
    }

    /** For a session that hands its requests over to a client thread. */
    static DataPath handedOver(ClientThread thread, Session session, RegionTable table, OperationLatency latency, int requests) {
        HandedRequests handed = new HandedRequests(thread, session, table, latency, requests);
        thread.add(handed);
        return new DataPath(handed, NO_LINKS, null, () -> thread.remove(handed), ignored -> { });
    }

    @Override
    public void close() {
        try {
            Closing.all(links, onClose::run);
        } finally {
            if (channel != null) {
                // Rings have completion queues on it.
                closed.accept(links.closed().thenRun(channel::close));
            }
        }
    }

    /** The client thread's session has them. */
    private static final Links NO_LINKS = new Links() {

        @Override
        public void connect(RemoteServer server) {
        }

        @Override
        public void ensure(RemoteServer server) {
        }

        @Override
        public void disconnect(RemoteServer server) {
        }

        @Override
        public void lose(RemoteServer server) {
        }

        @Override
        public boolean flushedAlready(RemoteRegion region) {
            return true;
        }

        @Override
        public boolean flush(RemoteRegion region) {
            return true;
        }

        @Override
        public boolean flushed(RemoteRegion region) {
            return true;
        }

        @Override
        public void close() {
        }
    };
}
