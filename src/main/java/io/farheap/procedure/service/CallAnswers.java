package io.farheap.procedure.service;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.rpc.PendingCall;
import io.farheap.rpc.Reply;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Writes replies to calls, in the format of {@link CallFormat}. One thread. */
final class CallAnswers {

    /** Status of the reply that was written last. */
    private int status;

    private final MemorySegment answer = Arena.ofAuto().allocate(CallFormat.RECORD_BYTES, Long.BYTES);

    /**
     * Writes the reply in the call's handler.
     *
     * @return bytes of the reply; its first field is a status
     */
    int reply(RunningCall call, Reply out) {
        CallContext context = call.context;
        int result = context.resultBytes();
        if (call.left == CallContext.RETURNED && CallFormat.REPLY_BYTES + result <= out.capacity()) {
            status = CallStatus.DONE;
            out.setInt(0, CallStatus.DONE);
            out.setInt(4, context.code());
            out.setLong(8, 0);
            out.setBytes(CallFormat.REPLY_BYTES, NativeMemory.ALL, context.resultAddress(), result);
            return CallFormat.REPLY_BYTES + result;
        }
        int length = write(call.context, call.left);
        if (length > out.capacity()) {
            length = header(CallStatus.RESULT_FULL, 0, -1);
        }
        out.setBytes(0, answer, 0, length);
        return length;
    }

    /** Writes the reply of a call that was put off. */
    void reply(RunningCall call, PendingCall out) {
        int length = write(call.context, call.left);
        if (length > out.capacity()) {
            length = header(CallStatus.RESULT_FULL, 0, -1);
        }
        out.answer(answer, 0, length);
    }

    /** Status of the reply that was written last: a {@link CallStatus} or {@link CallFormat#LEFT}. */
    int status() {
        return status;
    }

    private int write(CallContext context, int left) {
        if (left == CallContext.RETURNED) {
            int result = context.resultBytes();
            header(CallStatus.DONE, context.code(), 0);
            MemorySegment.copy(NativeMemory.ALL, context.resultAddress(), answer, CallFormat.REPLY_BYTES, result);
            return CallFormat.REPLY_BYTES + result;
        }
        if (left == CallContext.ACCESS) {
            int bytes = context.saveBytes();
            if (bytes > CallFormat.RECORD_BYTES - CallFormat.REPLY_BYTES) {
                return header(CallStatus.RESULT_FULL, context.suspendedLine(), -1);
            }
            header(
                    CallFormat.LEFT,
                    context.accessKind() | context.suspendedLine() << CallFormat.KIND_BITS,
                    context.address());
            context.save(answer, CallFormat.REPLY_BYTES);
            return CallFormat.REPLY_BYTES + bytes;
        }
        int why = context.status();
        if (why == CallStatus.DONE) {
            // The cache has become smaller than the call's footprint in the meantime.
            why = CallStatus.OUT_OF_RANGE;
        }
        return header(why, context.line(), why == CallStatus.FAULT ? context.line() : context.endAddress());
    }

    private int header(int itsStatus, int code, long value) {
        status = itsStatus;
        answer.set(JAVA_INT_UNALIGNED, 0, itsStatus);
        answer.set(JAVA_INT_UNALIGNED, 4, code);
        answer.set(JAVA_LONG_UNALIGNED, 8, value);
        return CallFormat.REPLY_BYTES;
    }

    /** @param reason one of {@link CallStatus} */
    int refused(Reply out, int reason) {
        status = CallStatus.REFUSED;
        out.setInt(0, CallStatus.REFUSED);
        out.setInt(4, reason);
        out.setLong(8, 0);
        return CallFormat.REPLY_BYTES;
    }
}
