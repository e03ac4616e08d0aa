package io.farheap.soak;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** A worker's client, and the requests that it has under way. One thread. */
final class InFlightRequests implements AutoCloseable {

    static final int MOST = 16;

    private final CacheClient.Opener opener;
    private final Consumer<SoakRequest> finished;
    private final Buffer buffer;
    private final List<SoakRequest> slots = new ArrayList<>();
    private CacheClient client;
    private int pending;

    /** @param finished is told of each request that has ended, on this thread */
    InFlightRequests(Cache cache, CacheClient.Opener opener, Consumer<SoakRequest> finished) {
        this.opener = opener;
        this.finished = finished;
        buffer = cache.allocate((long) MOST * SoakRequest.MAX_BYTES);
        try {
            for (int slot = 0; slot < MOST; slot++) {
                slots.add(new SoakRequest(buffer, (long) slot * SoakRequest.MAX_BYTES));
            }
            client = opener.open(this::ended);
        } catch (Throwable e) {
            buffer.close();
            throw e;
        }
    }

    CacheClient client() {
        return client;
    }

    int pending() {
        return pending;
    }

    /** A request that is not under way; there must be one. */
    SoakRequest free(SplittableRandom random) {
        int slot = random.nextInt(MOST);
        while (slots.get(slot).pending) {
            slot = (slot + 1) % MOST;
        }
        return slots.get(slot);
    }

    /** @return false where the client takes no more at the moment, and nothing has happened */
    boolean issue(SoakRequest request) {
        // First: a blocking client has called back by the time that this returns.
        request.pending = true;
        request.issuedAt = System.nanoTime();
        pending++;
        if (client.issue(request)) {
            return true;
        }
        request.pending = false;
        pending--;
        return false;
    }

    private void ended(SoakRequest request, int status) {
        request.pending = false;
        request.status = status;
        pending--;
        finished.accept(request);
    }

    void drain() {
        while (pending > 0) {
            client.progress();
        }
    }

    /**
     * Opens another client in place of the one there is, which has nothing under way.
     *
     * @param deadline of System.nanoTime()
     */
    void reopen(long deadline) {
        client.close();
        client = Retry.until(deadline, () -> opener.open(this::ended));
    }

    @Override
    public void close() {
        client.close();
        buffer.close();
    }
}
