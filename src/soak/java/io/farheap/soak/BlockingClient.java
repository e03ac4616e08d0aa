package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.Session;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Status;
import java.util.function.ObjIntConsumer;

/** Blocking requests of a session, from a platform thread or a virtual one. */
final class BlockingClient implements Client {

    private final Session session;
    private final ObjIntConsumer<Request> finished;

    BlockingClient(Cache cache, ObjIntConsumer<Request> finished) {
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
    public boolean issue(Request request) {
        int status = Status.OK;
        try {
            run(request, request.addresses[0]);
        } catch (CacheException e) {
            status = e.status();
        }
        finished.accept(request, status);
        return true;
    }

    private void run(Request request, long address) {
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
