package io.farheap.procedure.translate.running;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.MemorySegment;

/**
 * Copies of procedures. Each returns units of fuel, or a value below 0 if the code must leave. A processor may
 * mispredict the checks and copy nevertheless, and so leave traces of what it has read. Therefore each place is masked,
 * and each length is cut to the end of its memory without a branch; neither changes anything if the checks hold.
 */
public final class ProcedureCopies {

    private static final int BYTES_PER_UNIT = 16;

    private ProcedureCopies() {}

    static int toScratch(CallFrame frame, long address, int scratchAt, int bytes) {
        frame.scratchAt = scratchAt;
        frame.count = bytes;
        if (!fits(frame, scratchAt, bytes)) {
            return -1;
        }
        if (bytes > 0) {
            boolean elsewhere = frame.done;
            long place = frame.locate(address, bytes, CallContext.COPY_TO_SCRATCH);
            if (place == 0) {
                return -1;
            }
            frame.scratchBytes = Math.max(frame.scratchBytes, scratchAt + bytes);
            if (!elsewhere) {
                int at = scratchAt & frame.placeMask;
                int length = cut(cut(bytes, frame.placeMask + 1 - at), frame.rest(address));
                MemorySegment.copy(NativeMemory.ALL, place, NativeMemory.ALL, frame.scratch + at, length);
            }
        }
        return bytes / BYTES_PER_UNIT;
    }

    static int fromScratch(CallFrame frame, int scratchAt, long address, int bytes) {
        frame.scratchAt = scratchAt;
        frame.count = bytes;
        if (!fits(frame, scratchAt, bytes)) {
            return -1;
        }
        if (bytes > 0) {
            boolean elsewhere = frame.done;
            long place = frame.locate(address, bytes, CallContext.COPY_FROM_SCRATCH);
            if (place == 0) {
                return -1;
            }
            if (!elsewhere) {
                int at = scratchAt & frame.placeMask;
                int length = cut(cut(bytes, frame.placeMask + 1 - at), frame.rest(address));
                MemorySegment.copy(NativeMemory.ALL, frame.scratch + at, NativeMemory.ALL, place, length);
            }
        }
        return bytes / BYTES_PER_UNIT;
    }

    static int toResult(CallFrame frame, int scratchAt, int resultAt, int bytes) {
        if (!fits(frame, scratchAt, bytes)) {
            return -1;
        }
        if (bytes == 0 && resultAt >= 0 && resultAt <= frame.resultCapacity) {
            return 0;
        }
        if (ProcedureMemory.checkResult(frame, resultAt, bytes) < 0) {
            return -1;
        }
        int from = scratchAt & frame.placeMask;
        int to = resultAt & frame.placeMask;
        int length = cut(cut(bytes, frame.placeMask + 1 - from), frame.placeMask + 1 - to);
        MemorySegment.copy(NativeMemory.ALL, frame.scratch + from, NativeMemory.ALL, frame.results + to, length);
        return bytes / BYTES_PER_UNIT;
    }

    /** The lesser of a length and the room for it, both at least 0; no branch. */
    static int cut(int bytes, int room) {
        int less = room - bytes;
        return bytes + (less & less >> Integer.SIZE - 1);
    }

    private static boolean fits(CallFrame frame, int scratchAt, int bytes) {
        if (bytes < 0) {
            frame.refuse(CallStatus.OUT_OF_RANGE, scratchAt);
            return false;
        }
        return ProcedureMemory.checkScratch(frame, scratchAt, bytes) == 0;
    }
}
