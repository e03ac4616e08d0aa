package io.farheap.procedure.translate.running;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Loads and stores by native address, and at checked offsets of arguments, result and scratch memory. */
public final class ProcedureMemory {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfByte BYTE = ValueLayout.JAVA_BYTE;

    private ProcedureMemory() {}

    static byte getByte(long place) {
        return NativeMemory.ALL.get(BYTE, place);
    }

    static short getShort(long place) {
        return NativeMemory.ALL.get(SHORT, place);
    }

    static int getInt(long place) {
        return NativeMemory.ALL.get(INT, place);
    }

    static long getLong(long place) {
        return NativeMemory.ALL.get(LONG, place);
    }

    static void putByte(long place, int value) {
        NativeMemory.ALL.set(BYTE, place, (byte) value);
    }

    static void putShort(long place, int value) {
        NativeMemory.ALL.set(SHORT, place, (short) value);
    }

    static void putInt(long place, int value) {
        NativeMemory.ALL.set(INT, place, value);
    }

    static void putLong(long place, long value) {
        NativeMemory.ALL.set(LONG, place, value);
    }

    /** Returns a value below 0 if the bytes are not all within the arguments. */
    static int checkArgument(CallFrame frame, int at, int bytes) {
        if (at >= 0 && at <= frame.argumentBytes - bytes) {
            return 0;
        }
        frame.refuse(CallStatus.OUT_OF_RANGE, at);
        return -1;
    }

    static int checkScratch(CallFrame frame, int at, int bytes) {
        if (at >= 0 && at <= Call.SCRATCH_BYTES - bytes) {
            return 0;
        }
        frame.refuse(CallStatus.OUT_OF_RANGE, at);
        return -1;
    }

    /** As {@link #checkArgument}, for the result; extends the result to the end of these bytes. */
    static int checkResult(CallFrame frame, int at, int bytes) {
        if (at >= 0 && at <= frame.resultCapacity - bytes) {
            if (at + bytes > frame.resultBytes) {
                frame.resultBytes = at + bytes;
            }
            return 0;
        }
        frame.refuse(CallStatus.RESULT_FULL, at);
        return -1;
    }

    /** As {@link #checkScratch}; also records that scratch memory is written up to the end of these bytes. */
    static int checkScratchSet(CallFrame frame, int at, int bytes) {
        int checked = checkScratch(frame, at, bytes);
        if (checked == 0 && at + bytes > frame.scratchBytes) {
            frame.scratchBytes = at + bytes;
        }
        return checked;
    }

    static long argument(CallFrame frame, int at) {
        return getLong(frame.arguments + (at & frame.placeMask));
    }

    static int argumentInt(CallFrame frame, int at) {
        return getInt(frame.arguments + (at & frame.placeMask));
    }

    static byte argumentByte(CallFrame frame, int at) {
        return getByte(frame.arguments + (at & frame.placeMask));
    }

    static long scratch(CallFrame frame, int at) {
        return getLong(frame.scratch + (at & frame.placeMask));
    }

    static int scratchInt(CallFrame frame, int at) {
        return getInt(frame.scratch + (at & frame.placeMask));
    }

    static byte scratchByte(CallFrame frame, int at) {
        return getByte(frame.scratch + (at & frame.placeMask));
    }

    static void result(CallFrame frame, int at, long value) {
        putLong(frame.results + (at & frame.placeMask), value);
    }

    static void resultInt(CallFrame frame, int at, int value) {
        putInt(frame.results + (at & frame.placeMask), value);
    }

    static void resultByte(CallFrame frame, int at, int value) {
        putByte(frame.results + (at & frame.placeMask), value);
    }

    static void scratch(CallFrame frame, int at, long value) {
        putLong(frame.scratch + (at & frame.placeMask), value);
    }

    static void scratchInt(CallFrame frame, int at, int value) {
        putInt(frame.scratch + (at & frame.placeMask), value);
    }

    static void scratchByte(CallFrame frame, int at, int value) {
        putByte(frame.scratch + (at & frame.placeMask), value);
    }
}
