package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import java.util.function.ObjIntConsumer;

/** Blocking requests of a session, from a platform thread or a virtual one. */
final class BlockingClient implements CacheClient {

    private final CacheSession session;
    private final ObjIntConsumer<SoakRequest> finished;

    BlockingClient(Cache cache, ObjIntConsumer<SoakRequest> finished) {
        this.session = cache.openSession();
        this.finished = finished;
    }

    @Override
    public boolean takesRecords() {
        return false;
    }

    @Override
    public boolean takesBuffers() {
        return true;
    }

    @Override
    public boolean issue(SoakRequest request) {
        int status = Status.OK;
        try {
            run(request, request.addresses[0]);
        } catch (CacheException e) {
            status = e.status();
        }
        finished.accept(request, status);
        return true;
    }

    private void run(SoakRequest request, long address) {
        if (request.onHeap) {
            if (request.write) {
                session.writeBlocking(address, request.data());
            } else {
                session.readBlocking(address, request.data());
            }
        } else if (request.write) {
            session.writeBlocking(address, request.buffer, request.offset, request.length);
        } else {
            session.readBlocking(address, request.buffer, request.offset, request.length);
        }
    }

    @Override
    public void progress() {}

    @Override
    public void close() {
        session.close();
    }
}
