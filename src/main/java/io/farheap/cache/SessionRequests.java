package io.farheap.cache;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** A session's way in: checks what is asked for, and issues it inside the gate. The owner alone. */
final class SessionRequests {

    private final SessionCore core;

    SessionRequests(SessionCore core) {
        this.core = core;
    }

    /** As {@link Session#read(long, Buffer, long, long, Completion, long)}, or write. */
    boolean issue(
            boolean write, long address, Buffer buffer, long offset, long length, Completion completion, long token) {
        checkBuffer(buffer, offset, length);
        checkCompletion(completion);
        boolean entered = core.enter();
        try {
            checkRange(address, length);
            checkOpen(buffer);
            return !core.calls().block(write, address, length)
                    && core.path()
                            .issue(write, address, length, buffer, buffer.address() + offset, null, completion, token);
        } finally {
            core.exit(entered);
        }
    }

    /** As {@link Session#readAll}, or writeAll. */
    boolean issueAll(
            boolean write,
            long[] addresses,
            int count,
            Buffer buffer,
            long offset,
            int length,
            Completion completion,
            long token) {
        int most = core.path().maxRecords();
        if (count < 1 || count > Math.min(addresses.length, most)) {
            throw new IllegalArgumentException(
                    count + " records of " + addresses.length + " addresses; a request may have from 1 to " + most);
        }
        checkBuffer(buffer, offset, (long) count * length);
        checkCompletion(completion);
        boolean entered = core.enter();
        try {
            for (int i = 0; i < count; i++) {
                checkRange(addresses[i], length);
            }
            checkOpen(buffer);
            long local = buffer.address() + offset;
            return !core.calls().block(write, addresses, count, length)
                    && core.path().issueAll(write, addresses, count, length, buffer, local, completion, token);
        } finally {
            core.exit(entered);
        }
    }

    /** As {@link Session#read(long, MemorySegment, Completion, long)}, or write. */
    boolean issue(boolean write, long address, MemorySegment segment, Completion completion, long token) {
        if (!write && segment.isReadOnly()) {
            throw new IllegalArgumentException("the destination segment is read-only");
        }
        if (!segment.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalArgumentException("the segment belongs to another thread");
        }
        checkCompletion(completion);
        boolean entered = core.enter();
        try {
            long length = segment.byteSize();
            checkRange(address, length);
            core.refuseWhileClosing();
            return !core.calls().block(write, address, length)
                    && core.path().issue(write, address, length, null, 0, segment, completion, token);
        } finally {
            core.exit(entered);
        }
    }

    /**
     * The short path of a request that meets no obstacle; whatever is unusual is left to the ordinary path, which
     * reports it.
     *
     * @return as {@link RequestPath#tryExecute}
     */
    int tryExecute(
            boolean write, long address, Buffer buffer, long offset, long length, Completion completion, long token) {
        if ((address | offset | length - 1) < 0 || !core.mayEnter()) {
            return RequestPath.DECLINED;
        }
        core.gate().enter();
        try {
            return core.open()
                            && length <= core.capacity() - address
                            && length <= buffer.usableBytes() - offset
                            && core.owns(buffer)
                            && !core.calls().block(write, address, length)
                    ? core.path().tryExecute(write, address, buffer, offset, length, completion, token)
                    : RequestPath.DECLINED;
        } finally {
            core.exit();
        }
    }

    /** As {@link Session#call(Procedure, long, long, long, Buffer, long, int, long, int, CallCompletion, long)}. */
    boolean call(
            Procedure procedure,
            long address,
            long from,
            long span,
            Buffer buffer,
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
    boolean make(
            Procedure procedure,
            long address,
            long from,
            long span,
            @Nullable Buffer buffer,
            long arguments,
            int argumentBytes,
            long result,
            int resultBytes,
            CallCompletion completion,
            long token) {
        checkCallCompletion(completion);
        boolean entered = core.enter();
        try {
            checkRange(address, 1);
            return mayCall(procedure, from, span, buffer, argumentBytes, resultBytes)
                    && core.calls()
                            .all()
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
            core.exit(entered);
        }
    }

    /**
     * As {@link Session#callAll(Procedure, long[], int, long, long, Buffer, long, int, long, int, CallCompletion,
     * long)}.
     */
    boolean callAll(
            Procedure procedure,
            long[] addresses,
            int count,
            long from,
            long span,
            Buffer buffer,
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
        boolean entered = core.enter();
        try {
            for (int i = 0; i < count; i++) {
                checkRange(addresses[i], 1);
            }
            return mayCall(procedure, from, span, buffer, argumentBytes, resultBytes)
                    && core.calls()
                            .all()
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
            core.exit(entered);
        }
    }

    /** Inside the gate: throws where it never may, and whether no earlier request is in its way. */
    private boolean mayCall(
            Procedure procedure, long from, long span, @Nullable Buffer buffer, int argumentBytes, int resultBytes) {
        checkRange(from, span);
        core.refuseWhileClosing();
        if (buffer != null) {
            checkOpen(buffer);
        }
        core.calls().all().check(procedure, argumentBytes, resultBytes);
        return !core.calls().waitFor(core.path(), procedure, from, span);
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
        long end = core.capacity();
        if (address < 0 || length < 1 || length > end - address) {
            throw new IndexOutOfBoundsException(length + " bytes at address " + address + "; the cache has " + end
                    + " bytes, and a request at least 1");
        }
    }

    private void checkOpen(Buffer buffer) {
        core.refuseWhileClosing();
        if (buffer.closed()) {
            throw new IllegalStateException("the buffer is closed");
        }
    }

    private void checkBuffer(Buffer buffer, long offset, long length) {
        if (!core.owns(buffer)) {
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
