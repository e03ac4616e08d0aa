package io.farheap.cache.session;

import io.farheap.cache.calls.RegisteredProcedure;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.CallResult.RangeResult;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.order.RequestBuffer;
import io.farheap.cache.order.RequestPath;
import io.farheap.lifetime.Closeables;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A session's blocking reads, writes and calls: the one request or call that its owner waits for now. The owner alone.
 *
 * <p>A session first {@linkplain SessionAdmission#tryExecute tries to execute} a request at once. If that has only
 * started it, or has declined, the request is {@linkplain #finish finished} here.
 */
public final class BlockingRequests implements Completion, CallCompletion {

    private final SessionAdmission admission;
    private final SessionRequests requests;
    private final CallRequests calls;
    private final SessionProgress progress;
    private final PendingRequests pending;
    private final SessionHost cache;

    /**
     * The token of the request or call that the owner waits for. It differs from that of an earlier one, whose wait was
     * ended by an exception of another callback and which may complete later.
     */
    private long ticket;

    private boolean done;
    private int status;
    /** The code that a call returned, and the length of its result. */
    private int code;

    private int resultBytes;
    /** Where the call ended, as in {@link CallResult}. */
    private long endAddress;

    private int line;
    private long handle;
    /** The piece whose call failed, as in {@link RangeResult}. */
    private long endPiece;

    private final RangeCompletion ofRange = new RangeCompletion() {
        @Override
        public void completed(long token, int how, int returned, int bytes) {
            completed(token, how, returned, bytes, CallResult.NOWHERE, CallResult.NOWHERE, 0);
        }

        @Override
        public void completed(long token, int how, int returned, int bytes, long piece, long at, int itsLine) {
            if (token == ticket) {
                endPiece = piece;
                BlockingRequests.this.completed(token, how, returned, bytes, at, itsLine);
            }
        }
    };

    BlockingRequests(
            SessionAdmission admission,
            SessionRequests requests,
            CallRequests calls,
            SessionProgress progress,
            PendingRequests pending,
            SessionHost cache) {
        this.admission = admission;
        this.requests = requests;
        this.calls = calls;
        this.progress = progress;
        this.pending = pending;
        this.cache = cache;
    }

    /** The token of the next request that is waited for. */
    public long nextToken() {
        return ticket + 1;
    }

    /**
     * Returns when a request has ended that {@link SessionAdmission#tryExecute} was called for, with
     * {@link #nextToken}, and has not done.
     *
     * @param tried the result of {@link SessionAdmission#tryExecute}
     */
    public void finish(int tried, boolean write, long address, RequestBuffer buffer, long offset, long length) {
        begin();
        if (tried == RequestPath.DECLINED) {
            while (!requests.issue(write, address, buffer, offset, length, this, ticket)) {
                progress.awaitProgress();
            }
        }
        await(write, address, length);
    }

    /** As {@link io.farheap.cache.CacheSession#readBlocking(long, MemorySegment)}, or writeBlocking. */
    public void execute(boolean write, long address, MemorySegment segment) {
        begin();
        while (!requests.issue(write, address, segment, this, ticket)) {
            progress.awaitProgress();
        }
        await(write, address, segment.byteSize());
    }

    /**
     * As {@link io.farheap.cache.CacheSession#callBlocking(Procedure, long, long, long, Buffer, long, int, long, int)}.
     */
    public CallResult call(
            RegisteredProcedure procedure,
            long address,
            long from,
            long span,
            RequestBuffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultCapacity) {
        begin();
        while (!calls.call(
                procedure,
                address,
                from,
                span,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultCapacity,
                this,
                ticket)) {
            progress.awaitProgress();
        }
        return awaitCall();
    }

    /** As {@link io.farheap.cache.CacheSession#resumeBlocking}. */
    public CallResult resume(long stopped, RequestBuffer buffer, long resultAt) {
        begin();
        while (!calls.resume(stopped, buffer, resultAt, this, ticket)) {
            progress.awaitProgress();
        }
        return awaitCall();
    }

    private CallResult awaitCall() {
        try {
            while (!done) {
                progress.awaitProgress();
            }
        } catch (Throwable e) {
            // Another callback has thrown: the caller does not get the handle if the call stops later, or has stopped.
            ticket++;
            if (done && handle != CallResult.NO_HANDLE) {
                Closeables.after(e, () -> calls.drop(handle));
            }
            throw e;
        }
        return new CallResult(status, code, resultBytes, endAddress, line, handle);
    }

    /** As {@link io.farheap.cache.CacheSession#callRangeBlocking}. */
    public RangeResult callRange(
            RegisteredProcedure procedure,
            long from,
            long bytes,
            long piece,
            RequestBuffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultCapacity,
            ResultJoiner joiner) {
        begin();
        LateJoiner late = new LateJoiner(joiner);
        while (!calls.callRange(
                procedure,
                from,
                bytes,
                piece,
                buffer,
                argumentsAt,
                argumentBytes,
                resultAt,
                resultCapacity,
                late,
                ofRange,
                ticket)) {
            progress.awaitProgress();
        }
        while (!done) {
            progress.awaitProgress();
        }
        late.rethrow();
        return new RangeResult(status, code, resultBytes, endPiece, endAddress, line);
    }

    /**
     * Keeps an exception of a joiner until its range's calls have ended: before that they use the caller's buffer. The
     * range ends with the result that cannot be joined.
     */
    private static final class LateJoiner implements ResultJoiner {

        private final ResultJoiner joiner;
        private @Nullable RuntimeException exception;
        private @Nullable Error error;

        LateJoiner(ResultJoiner joiner) {
            this.joiner = joiner;
        }

        @Override
        public int join(MemorySegment memory, long at, int bytes, long laterAt, int laterBytes, int room) {
            try {
                return joiner.join(memory, at, bytes, laterAt, laterBytes, room);
            } catch (RuntimeException e) {
                exception = e;
            } catch (Error e) {
                error = e;
            }
            return -1;
        }

        @Override
        public boolean ordered() {
            return joiner.ordered();
        }

        void rethrow() {
            if (error != null) {
                throw error;
            }
            if (exception != null) {
                throw exception;
            }
        }
    }

    private void begin() {
        admission.refuseInCallback();
        ticket++;
        done = false;
    }

    @Override
    public void completed(long token, int how) {
        if (token == ticket) {
            status = how;
            done = true;
        }
    }

    @Override
    public void completed(long token, int how, int returned, int bytes) {
        completed(token, how, returned, bytes, CallResult.NOWHERE, 0);
    }

    @Override
    public void completed(long token, int how, int returned, int bytes, long at, int itsLine) {
        if (token == ticket) {
            status = how;
            code = returned;
            resultBytes = bytes;
            endAddress = at;
            line = itsLine;
            handle = CallResult.NO_HANDLE;
            done = true;
        }
    }

    @Override
    public boolean stopped(long token, long itsHandle, long at, int itsLine) {
        completed(token, CallStatus.STOPPED, 0, 0, at, itsLine);
        if (token != ticket) {
            return false;
        }
        handle = itsHandle;
        return true;
    }

    private void await(boolean write, long address, long length) {
        // Work that is owed keeps other sessions from writing, and the caller may not poll again for long: do it now.
        while (!done || pending.owes()) {
            progress.awaitProgress();
        }
        if (status != Status.OK) {
            throw failure(write, address, length, status);
        }
    }

    /**
     * The exception for a read or a write that has failed. Any thread.
     *
     * @param how it ended, not {@link Status#OK}
     */
    public CacheException failure(boolean write, long address, long length, int how) {
        String why =
                switch (how) {
                    case Status.LOST -> cache.describeLoss(address, length);
                    case Status.UNKNOWN, Status.UNREACHABLE ->
                        Status.describe(how) + cache.describeServers(address, length);
                    default -> Status.describe(how);
                };
        return new CacheException(
                "cannot " + (write ? "write " : "read ") + length + " bytes at address " + address + ": " + why, how);
    }

    /** As {@link io.farheap.cache.CacheSession#drain}. */
    public void drain() {
        while (pending.count() > 0 || pending.owes()) {
            progress.awaitProgress();
        }
    }
}
