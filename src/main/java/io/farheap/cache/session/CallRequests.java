package io.farheap.cache.session;

import io.farheap.cache.calls.RegisteredProcedure;
import io.farheap.cache.calls.SessionCalls;
import io.farheap.cache.contract.CallCompletion;
import io.farheap.cache.contract.CallCompletion.RangeCompletion;
import io.farheap.cache.contract.CallResult.ResultJoiner;
import io.farheap.cache.order.RequestBuffer;
import org.jspecify.annotations.Nullable;

/** Issues a session's calls of procedures: each is checked, and issued inside the gate. The owner alone. */
public final class CallRequests {

    private final SessionAdmission admission;

    CallRequests(SessionAdmission admission) {
        this.admission = admission;
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
        admission.checkBuffer(buffer, argumentsAt, argumentBytes);
        admission.checkBuffer(buffer, resultAt, resultBytes);
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
     * Makes a call whose buffer has been checked.
     *
     * @param buffer null if arguments and result are in other native memory, which the caller keeps alive until the
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
        checkCompletion(completion);
        boolean entered = admission.enter();
        try {
            admission.checkRange(address, 1);
            return mayCall(procedure, from, span, buffer, argumentBytes, resultBytes)
                    && admission
                            .calls()
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
            admission.exit(entered);
        }
    }

    /** As {@link io.farheap.cache.CacheSession#resume}. */
    public boolean resume(long handle, RequestBuffer buffer, long resultAt, CallCompletion completion, long token) {
        checkCompletion(completion);
        boolean entered = admission.enter();
        try {
            admission.checkBuffer(buffer, resultAt, admission.calls().stoppedResultBytes(handle));
            admission.checkOpen(buffer);
            return makeRest(handle, buffer, buffer.address() + resultAt, completion, token);
        } finally {
            admission.exit(entered);
        }
    }

    /**
     * The same with the result in other native memory, which the caller keeps alive until the callback.
     *
     * @param resultBytes the length of that memory
     * @throws IllegalArgumentException also if that is less than the call's result may have
     */
    public boolean resume(long handle, long result, long resultBytes, CallCompletion completion, long token) {
        boolean entered = admission.enter();
        try {
            int needed = admission.calls().stoppedResultBytes(handle);
            if (resultBytes < needed) {
                throw new IllegalArgumentException(resultBytes + " bytes for the result of a call that was made with "
                        + needed + "; resume it with as many");
            }
            admission.refuseWhileClosing();
            return makeRest(handle, null, result, completion, token);
        } finally {
            admission.exit(entered);
        }
    }

    private boolean makeRest(
            long handle, @Nullable RequestBuffer buffer, long result, CallCompletion completion, long token) {
        return admission
                .calls()
                .resume(admission.path(), admission.capacity(), handle, buffer, result, completion, token);
    }

    /** As {@link io.farheap.cache.CacheSession#drop}. */
    public void drop(long handle) {
        boolean entered = admission.enter();
        try {
            admission.calls().drop(handle);
        } finally {
            admission.exit(entered);
        }
    }

    /** As {@link io.farheap.cache.CacheSession#stopped}. */
    public int stopped() {
        boolean entered = admission.enter();
        try {
            return admission.calls().stopped();
        } finally {
            admission.exit(entered);
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
        admission.checkBuffer(buffer, argumentsAt, (long) count * argumentBytes);
        admission.checkBuffer(buffer, resultAt, (long) count * resultBytes);
        checkCompletion(completion);
        boolean entered = admission.enter();
        try {
            for (int i = 0; i < count; i++) {
                admission.checkRange(addresses[i], 1);
            }
            return mayCall(procedure, from, span, buffer, argumentBytes, resultBytes)
                    && admission
                            .calls()
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
            admission.exit(entered);
        }
    }

    /**
     * As {@link io.farheap.cache.CacheSession#callRange(Procedure, long, long, long, Buffer, long, int, long, int,
     * ResultJoiner, RangeCompletion, long)}.
     *
     * @param joiner null if each result is handed over
     */
    public boolean callRange(
            RegisteredProcedure procedure,
            long from,
            long bytes,
            long piece,
            RequestBuffer buffer,
            long argumentsAt,
            int argumentBytes,
            long resultAt,
            int resultBytes,
            @Nullable ResultJoiner joiner,
            RangeCompletion completion,
            long token) {
        if (piece < 1) {
            throw new IllegalArgumentException("pieces of " + piece + " bytes; a piece has at least 1");
        }
        if (argumentBytes < 0 || argumentBytes > SessionCalls.MOST_RANGE_ARGUMENT_BYTES) {
            throw new IllegalArgumentException(argumentBytes + " bytes of arguments; behind the address and the length"
                    + " of its piece a call has 0 to " + SessionCalls.MOST_RANGE_ARGUMENT_BYTES);
        }
        admission.checkBuffer(buffer, argumentsAt, argumentBytes);
        admission.checkBuffer(buffer, resultAt, resultBytes);
        boolean both = argumentBytes > 0 && resultBytes > 0;
        if (both && resultAt < argumentsAt + argumentBytes && argumentsAt < resultAt + resultBytes) {
            throw new IllegalArgumentException("a result at " + resultAt + " to " + (resultAt + resultBytes)
                    + " of the buffer, over the arguments at " + argumentsAt + " to " + (argumentsAt + argumentBytes)
                    + ", which later calls of the range have, too; put it elsewhere");
        }
        checkCompletion(completion);
        // Code of the application, which may issue requests: before the session looks which are in the range's way.
        boolean ordered = joiner != null && joiner.ordered();
        boolean entered = admission.enter();
        try {
            return mayCall(procedure, from, bytes, buffer, argumentBytes, resultBytes)
                    && admission
                            .calls()
                            .all()
                            .callRange(
                                    procedure,
                                    from,
                                    bytes,
                                    piece,
                                    buffer,
                                    buffer.address() + argumentsAt,
                                    argumentBytes,
                                    buffer.address() + resultAt,
                                    resultBytes,
                                    joiner,
                                    ordered,
                                    completion,
                                    token);
        } finally {
            admission.exit(entered);
        }
    }

    /**
     * Throws if the call is not allowed at all; otherwise returns whether no earlier request is in its way. Inside the
     * gate.
     */
    private boolean mayCall(
            RegisteredProcedure procedure,
            long from,
            long span,
            @Nullable RequestBuffer buffer,
            int argumentBytes,
            int resultBytes) {
        admission.checkRange(from, span);
        admission.refuseWhileClosing();
        if (buffer != null) {
            admission.checkOpen(buffer);
        }
        admission.calls().all().check(procedure, argumentBytes, resultBytes);
        return !admission.calls().waitFor(admission.path(), procedure, from, span);
    }

    private static void checkCompletion(Object completion) {
        if (completion == null) {
            throw new NullPointerException("a call needs a completion");
        }
    }
}
