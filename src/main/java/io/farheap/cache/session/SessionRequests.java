package io.farheap.cache.session;

import io.farheap.cache.calls.RegisteredProcedure;
import io.farheap.cache.calls.SessionCalls;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.latency.OperationLatency;
import io.farheap.migration.region.AddressLimit;
import io.farheap.thread.OwnerGate;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A session's way in: checks what is asked for, and issues it inside the gate. The owner alone. */
public class SessionRequests extends SessionCore {

    SessionRequests(SessionHost cache, AddressLimit capacity, @Nullable OperationLatency latency, boolean worker) {
        super(cache, capacity, latency, worker);
    }

    /** As {@link io.farheap.cache.CacheSession#read(long, Buffer, long, long, Completion, long)}, or write. */
    public boolean issue(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token) {
        checkBuffer(buffer, offset, length);
        checkCompletion(completion);
        boolean entered = enter();
        try {
            checkRange(address, length);
            checkOpen(buffer);
            return !calls().block(write, address, length)
                    && path().issue(write, address, length, buffer, buffer.address() + offset, null, completion, token);
        } finally {
            exit(entered);
        }
    }

    /** As {@link io.farheap.cache.CacheSession#readAll}, or writeAll. */
    public boolean issueAll(
            boolean write,
            long[] addresses,
            int count,
            RequestBuffer buffer,
            long offset,
            int length,
            Completion completion,
            long token) {
        int most = path().maxRecords();
        if (count < 1 || count > Math.min(addresses.length, most)) {
            throw new IllegalArgumentException(
                    count + " records of " + addresses.length + " addresses; a request may have from 1 to " + most);
        }
        checkBuffer(buffer, offset, (long) count * length);
        checkCompletion(completion);
        boolean entered = enter();
        try {
            for (int i = 0; i < count; i++) {
                checkRange(addresses[i], length);
            }
            checkOpen(buffer);
            long local = buffer.address() + offset;
            return !calls().block(write, addresses, count, length)
                    && path().issueAll(write, addresses, count, length, buffer, local, completion, token);
        } finally {
            exit(entered);
        }
    }

    /** As {@link io.farheap.cache.CacheSession#read(long, MemorySegment, Completion, long)}, or write. */
    public boolean issue(boolean write, long address, MemorySegment segment, Completion completion, long token) {
        if (!write && segment.isReadOnly()) {
            throw new IllegalArgumentException("the destination segment is read-only");
        }
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalArgumentException("the segment belongs to another thread");
        }
        checkCompletion(completion);
        boolean entered = enter();
        try {
            long length = segment.byteSize();
            checkRange(address, length);
            refuseWhileClosing();
            return !calls().block(write, address, length)
                    && path().issue(write, address, length, null, 0, segment, completion, token);
        } finally {
            exit(entered);
        }
    }

    /**
     * The short path of a request that meets no obstacle; whatever is unusual is left to the ordinary path, which
     * reports it.
     *
     * @return as {@link RequestPath#tryExecute}
     */
    int tryExecute(
            boolean write,
            long address,
            RequestBuffer buffer,
            long offset,
            long length,
            Completion completion,
            long token) {
        OwnerGate gate = gate();
        // Who is in already is in a callback. One less than the least length is the greatest.
        if ((address | offset | length | length - 1) < 0 || !isCurrent() || gate.inside()) {
            return RequestPath.DECLINED;
        }
        gate.enter();
        try {
            if (length > capacity() - address || length > buffer.usableBytes() - offset || !owns(buffer)) {
                return RequestPath.DECLINED;
            }
            RequestPath path = pathOf(write, address, length);
            return path == null
                    ? RequestPath.DECLINED
                    : path.tryExecute(write, address, buffer, offset, length, completion, token);
        } finally {
            gate.exit();
        }
    }

    /**
     * As {@link io.farheap.cache.CacheSession#call(Procedure, long, long, long, Buffer, long, int, long, int,
     * CallCompletion, long)}.
     */
    public boolean call(
            RegisteredProcedure procedure,
            long address,
            long from,
            long span,
            RequestBuffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        checkBuffer(buffer, argumentsAt, argumentBytes);
        checkBuffer(buffer, resultAt, resultBytes);
        return make(
                procedure,
                address,
                from,
                span,
                buffer,
                buffer.address() + argumentsAt,
                argumentBytes,
                buffer.address() + resultAt,
                resultBytes,
                completion,
                token);
    }

    /**
     * A call itself.
     *
     * @param buffer null where arguments and result are in other native memory, which the caller keeps alive until the
     *     callback
     */
    public boolean make(
            RegisteredProcedure procedure,
            long address,
            long from,
            long span,
            @Nullable RequestBuffer buffer,
            long arguments,
            int argumentBytes,
            long result,
            int resultBytes,
            CallCompletion completion,
            long token) {
        checkCallCompletion(completion);
        boolean entered = enter();
        try {
            checkRange(address, 1);
            return mayCall(procedure, from, span, buffer, argumentBytes, resultBytes)
                    && calls().all()
                            .call(
                                    procedure,
                                    address,
                                    from,
                                    span,
                                    buffer,
                                    arguments,
                                    argumentBytes,
                                    result,
                                    resultBytes,
                                    completion,
                                    token);
        } finally {
            exit(entered);
        }
    }

    /**
     * As {@link io.farheap.cache.CacheSession#callAll(Procedure, long[], int, long, long, Buffer, long, int, long, int,
     * CallCompletion, long)}.
     */
    public boolean callAll(
            RegisteredProcedure procedure,
            long[] addresses,
            int count,
            long from,
            long span,
            RequestBuffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            CallCompletion completion,
            long token) {
        if (count < 1 || count > Math.min(addresses.length, SessionCalls.MOST_AT_ONCE)) {
            throw new IllegalArgumentException(count + " calls of " + addresses.length
                    + " addresses; there may be from 1 to " + SessionCalls.MOST_AT_ONCE + " at once");
        }
        checkBuffer(buffer, argumentsAt, (long) count * argumentBytes);
        checkBuffer(buffer, resultAt, (long) count * resultBytes);
        checkCallCompletion(completion);
        boolean entered = enter();
        try {
            for (int i = 0; i < count; i++) {
                checkRange(addresses[i], 1);
            }
            return mayCall(procedure, from, span, buffer, argumentBytes, resultBytes)
                    && calls().all()
                            .callAll(
                                    procedure,
                                    addresses,
                                    count,
                                    from,
                                    span,
                                    buffer,
                                    buffer.address() + argumentsAt,
                                    argumentBytes,
                                    buffer.address() + resultAt,
                                    resultBytes,
                                    completion,
                                    token);
        } finally {
            exit(entered);
        }
    }

    /** Inside the gate: throws where it never may, and whether no earlier request is in its way. */
    private boolean mayCall(
            RegisteredProcedure procedure,
            long from,
            long span,
            @Nullable RequestBuffer buffer,
            int argumentBytes,
            int resultBytes) {
        checkRange(from, span);
        refuseWhileClosing();
        if (buffer != null) {
            checkOpen(buffer);
        }
        calls().all().check(procedure, argumentBytes, resultBytes);
        return !calls().waitFor(path(), procedure, from, span);
    }

    private static void checkCallCompletion(CallCompletion completion) {
        if (completion == null) {
            throw new NullPointerException("a call needs a completion");
        }
    }

    /**
     * Inside the gate: whoever makes the cache smaller claims every gate afterwards, and so finds every request that
     * was let through before.
     */
    private void checkRange(long address, long length) {
        long end = capacity();
        if (address < 0 || length < 1 || length > end - address) {
            throw new IndexOutOfBoundsException(length + " bytes at address " + address + "; the cache has " + end
                    + " bytes, and a request at least 1");
        }
    }

    private void checkOpen(RequestBuffer buffer) {
        refuseWhileClosing();
        if (buffer.closed()) {
            throw new IllegalStateException("the buffer is closed");
        }
    }

    private void checkBuffer(RequestBuffer buffer, long offset, long length) {
        if (!owns(buffer)) {
            throw new IllegalArgumentException("the buffer belongs to another cache");
        }
        if (offset < 0 || length > buffer.bytes() - offset) {
            throw new IndexOutOfBoundsException(
                    "bytes " + offset + " to " + (offset + length) + " of a buffer of " + buffer.bytes());
        }
    }

    private static void checkCompletion(Completion completion) {
        if (completion == null) {
            throw new NullPointerException("a request needs a completion");
        }
    }
}
