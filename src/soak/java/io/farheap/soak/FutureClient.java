package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.FutureCacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.ObjIntConsumer;

/** Futures. */
final class FutureClient implements CacheClient {

    private static final int PARK_NANOS = 20_000;

    private record SubmittedRequest(SoakRequest request, CompletableFuture<Void> future) {}

    private final FutureCacheSession session;
    private final ObjIntConsumer<SoakRequest> finished;
    private final Deque<SubmittedRequest> submitted = new ArrayDeque<>();

    FutureClient(Cache cache, ObjIntConsumer<SoakRequest> finished) {
        this.session = cache.openFutureSession();
        this.finished = finished;
    }

    @Override
    public boolean takesRecords() {
        return false;
    }

    @Override
    public boolean takesBuffers() {
        return false;
    }

    @Override
    public boolean issue(SoakRequest request) {
        submitted.add(new SubmittedRequest(
                request,
                request.write
                        ? session.write(request.addresses[0], request.data())
                        : session.read(request.addresses[0], request.data())));
        return true;
    }

    @Override
    public void progress() {
        boolean none = true;
        for (Iterator<SubmittedRequest> all = submitted.iterator(); all.hasNext(); ) {
            SubmittedRequest one = all.next();
            if (one.future().isDone()) {
                all.remove();
                none = false;
                finished.accept(one.request(), status(one.future()));
            }
        }
        if (none) {
            LockSupport.parkNanos(PARK_NANOS);
        }
    }

    private static int status(CompletableFuture<Void> future) {
        try {
            future.join();
            return Status.OK;
        } catch (CompletionException e) {
            if (e.getCause() instanceof CacheException failed) {
                return failed.status();
            }
            throw e;
        }
    }

    @Override
    public void close() {
        session.close();
    }
}
