package io.farheap.soak;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** A worker's client, and the requests that it has under way. One thread. */
final class InFlight implements AutoCloseable {

    static final int MOST = 16;

    private final Client.Opener opener;
    private final Consumer<Request> finished;
    private final Buffer buffer;
    private final List<Request> slots = new ArrayList<>();
    private Client client;
    private int pending;

    /** @param finished is told of each request that has ended, on this thread */
    InFlight(Cache cache, Client.Opener opener, Consumer<Request> finished) {
        this.opener = opener;
        this.finished = finished;
        buffer = cache.allocate((long) MOST * Request.MAX_BYTES);
        try {
            for (int slot = 0; slot < MOST; slot++) {
                slots.add(new Request(buffer, (long) slot * Request.MAX_BYTES));
            }
            client = opener.open(this::ended);
        } catch (Throwable e) {
            buffer.close();
            throw e;
        }
    }

    Client client() {
        return client;
    }

    int pending() {
        return pending;
    }

    /** A request that is not under way; there must be one. */
    Request free(SplittableRandom random) {
        int slot = random.nextInt(MOST);
        while (slots.get(slot).pending) {
            slot = (slot + 1) % MOST;
        }
        return slots.get(slot);
    }

    /** @return false where the client takes no more at the moment, and nothing has happened */
    boolean issue(Request request) {
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

    private void ended(Request request, int status) {
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
