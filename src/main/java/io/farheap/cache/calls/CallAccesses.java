package io.farheap.cache.calls;

import io.farheap.cache.contract.Completion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import java.util.function.Supplier;

/** Issues the requests of calls that run in the client, on the path that the session's requests take now. */
public final class CallAccesses implements LocalCalls.AccessIssuer {

    private final LazySessionCalls calls;
    private final Supplier<RequestPath> path;

    public CallAccesses(LazySessionCalls calls, Supplier<RequestPath> path) {
        this.calls = calls;
        this.path = path;
    }

    @Override
    public boolean issue(
            boolean write, long address, long length, RequestBuffer buffer, long local, Completion done, long token) {
        calls.requests(write);
        return path.get().issue(write, address, length, buffer, local, null, done, token);
    }

    @Override
    public boolean issueAtomic(
            boolean swap,
            long address,
            long compareOrAdd,
            long value,
            RequestBuffer buffer,
            long local,
            Completion done,
            long token) {
        calls.requests(true);
        return path.get().issueAtomic(swap, address, compareOrAdd, value, buffer, local, done, token);
    }
}
