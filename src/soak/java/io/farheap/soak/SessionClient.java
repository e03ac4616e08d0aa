package io.farheap.soak;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ObjIntConsumer;

/** Asynchronous requests of a session. */
final class SessionClient implements CacheClient {

    private final CacheSession session;
    private final List<SoakRequest> requests = new ArrayList<>();
    private final Completion completion;

    SessionClient(Cache cache, ObjIntConsumer<SoakRequest> finished) {
        this.session = cache.openSession();
        this.completion = (token, status) -> finished.accept(requests.get((int) token), status);
    }

    @Override
    public boolean takesRecords() {
        return true;
    }

    @Override
    public boolean takesBuffers() {
        return true;
    }

    @Override
    public boolean issue(SoakRequest request) {
        int token = requests.indexOf(request);
        if (token < 0) {
            token = requests.size();
            requests.add(request);
        }
        long address = request.addresses[0];
        if (request.count > 1) {
            return request.write
                    ? session.writeAll(
                            request.addresses,
                            request.count,
                            request.buffer,
                            request.offset,
                            request.length,
                            completion,
                            token)
                    : session.readAll(
                            request.addresses,
                            request.count,
                            request.buffer,
                            request.offset,
                            request.length,
                            completion,
                            token);
        }
        if (request.onHeap) {
            return request.write
                    ? session.write(address, request.data(), completion, token)
                    : session.read(address, request.data(), completion, token);
        }
        return request.write
                ? session.write(address, request.buffer, request.offset, request.length, completion, token)
                : session.read(address, request.buffer, request.offset, request.length, completion, token);
    }

    @Override
    public void progress() {
        session.poll();
    }

    @Override
    public void close() {
        session.close();
    }
}
