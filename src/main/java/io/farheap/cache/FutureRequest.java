package io.farheap.cache;

import io.farheap.cache.calls.CacheProcedures;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallResult;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.cache.session.SessionCore;
import io.farheap.memory.MappedFaults;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A request that was submitted to a {@link FutureCacheSession}. */
abstract sealed class FutureRequest {

    private final long address;
    private final long length;

    private FutureRequest(long address, long length) {
        this.address = address;
        this.length = length;
    }

    /** Whether the two may touch the same bytes. */
    final boolean overlaps(FutureRequest other) {
        return address < other.address + other.length && other.address < address + length;
    }

    /**
     * Issues it on the session's thread.
     *
     * @param ended called when the request has ended
     * @return false if there is no room, or something is in its way
     */
    abstract boolean issue(CacheSession session, Consumer<FutureRequest> ended);

    abstract void fail(Throwable why);

    /** A read or a write. */
    static final class Transfer extends FutureRequest {

        private final boolean write;
        private final long address;
        private final MemorySegment segment;
        private final CompletableFuture<Void> future = new CompletableFuture<>();

        Transfer(boolean write, long address, MemorySegment segment) {
            super(address, segment.byteSize());
            this.write = write;
            this.address = address;
            this.segment = segment;
        }

        CompletableFuture<Void> future() {
            return future;
        }

        @Override
        boolean issue(CacheSession session, Consumer<FutureRequest> ended) {
            Completion completion = (token, status) -> {
                ended.accept(this);
                finish(session, status);
            };
            return write
                    ? session.write(address, segment, completion, 0)
                    : session.read(address, segment, completion, 0);
        }

        private void finish(CacheSession session, int status) {
            if (status == Status.OK) {
                future.complete(null);
            } else {
                future.completeExceptionally(
                        session.core().blocking.failure(write, address, segment.byteSize(), status));
            }
        }

        @Override
        void fail(Throwable why) {
            future.completeExceptionally(why);
        }
    }

    /** Forgets a stopped call. */
    static final class DropRequest extends FutureRequest {

        private final long handle;
        private final CompletableFuture<Void> future = new CompletableFuture<>();

        DropRequest(long handle) {
            // It changes nothing of the cache, and waits for no request.
            super(0, 0);
            this.handle = handle;
        }

        CompletableFuture<Void> future() {
            return future;
        }

        @Override
        boolean issue(CacheSession session, Consumer<FutureRequest> ended) {
            session.drop(handle);
            ended.accept(this);
            future.complete(null);
            return true;
        }

        @Override
        void fail(Throwable why) {
            future.completeExceptionally(why);
        }
    }

    /** A call of a procedure, or the rest of one that has stopped. */
    static final class CallRequest extends FutureRequest {

        /** The footprint is the whole cache, however large that is when the call is made. */
        static final long WHOLE = Long.MAX_VALUE;

        /** Null if a stopped call is resumed, which has a handle. */
        private final @Nullable Procedure procedure;

        private final long handle;
        private final long address;
        private final long from;
        private final long span;
        private final MemorySegment arguments;
        private final MemorySegment result;
        /**
         * The arguments, followed by room for the result; allocated when the request is issued, and alive as long as
         * this object.
         */
        private @Nullable MemorySegment copy;

        private final CompletableFuture<CallResult> future = new CompletableFuture<>();

        CallRequest(
                Procedure procedure,
                long address,
                long from,
                long span,
                MemorySegment arguments,
                MemorySegment result) {
            super(from, span);
            this.procedure = procedure;
            this.handle = CallResult.NO_HANDLE;
            this.address = address;
            this.from = from;
            this.span = span;
            this.arguments = arguments;
            this.result = result;
        }

        /** Resumes a stopped call, whose footprint the session knows. */
        CallRequest(long handle, MemorySegment result) {
            super(0, WHOLE);
            this.procedure = null;
            this.handle = handle;
            this.address = 0;
            this.from = 0;
            this.span = WHOLE;
            this.arguments = MemorySegment.NULL;
            this.result = result;
        }

        CompletableFuture<CallResult> future() {
            return future;
        }

        @Override
        boolean issue(CacheSession session, Consumer<FutureRequest> ended) {
            MemorySegment memory = memory();
            if (procedure == null) {
                return session.core()
                        .calls
                        .resume(handle, memory.address(), result.byteSize(), new EndedCall(ended), 0);
            }
            MemorySegment.copy(arguments, 0, memory, 0, arguments.byteSize());
            MappedFaults.raise(arguments);
            SessionCore core = session.core();
            return core.calls.make(
                    procedure,
                    address,
                    from,
                    span == WHOLE ? core.admission.capacity() : span,
                    null,
                    memory.address(),
                    (int) arguments.byteSize(),
                    memory.address() + arguments.byteSize(),
                    (int) result.byteSize(),
                    new EndedCall(ended),
                    0);
        }

        private final class EndedCall implements CallCompletion {

            private final Consumer<FutureRequest> ended;

            EndedCall(Consumer<FutureRequest> ended) {
                this.ended = ended;
            }

            @Override
            public void completed(long token, int status, int code, int bytes) {
                completed(token, status, code, bytes, CallResult.NOWHERE, 0);
            }

            @Override
            public void completed(long token, int status, int code, int bytes, long at, int line) {
                ended.accept(CallRequest.this);
                finish(new CallResult(status, code, bytes, at, line));
            }

            @Override
            public boolean stopped(long token, long stopped, long at, int line) {
                ended.accept(CallRequest.this);
                return finish(new CallResult(CallStatus.STOPPED, 0, 0, at, line, stopped));
            }
        }

        private MemorySegment memory() {
            MemorySegment memory = copy;
            if (memory == null) {
                if (arguments.byteSize() > Call.ARGUMENT_BYTES || result.byteSize() > Call.RESULT_BYTES) {
                    throw new IllegalArgumentException(
                            CacheProcedures.tooLong(arguments.byteSize(), result.byteSize()));
                }
                memory = Arena.ofAuto().allocate(Math.max(1, arguments.byteSize() + result.byteSize()), Long.BYTES);
                copy = memory;
            }
            return memory;
        }

        /** Returns whether the application gets the result: it may have cancelled the future. */
        private boolean finish(CallResult ended) {
            try {
                MemorySegment.copy(memory(), arguments.byteSize(), result, 0, ended.bytes());
                MappedFaults.raise(result);
                return future.complete(ended);
            } catch (RuntimeException | InternalError e) {
                // The segment was closed, is read-only, or maps a file that has become shorter.
                future.completeExceptionally(e);
                return false;
            }
        }

        @Override
        void fail(Throwable why) {
            future.completeExceptionally(why);
        }
    }
}
