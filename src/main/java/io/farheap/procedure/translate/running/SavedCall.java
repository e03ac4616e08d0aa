package io.farheap.procedure.translate.running;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.Call;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The bytes of a suspended call, little-endian; 8 bytes for each field unless 4 is stated: resume point and flags (4
 * each), fuel used, address, expected value, value, result of an access that was made elsewhere; offset in scratch
 * memory and count, length of arguments and of result, length of scratch memory that was written and number of slots (4
 * each); then the slots, arguments, result and scratch memory, each padded to 8.
 */
final class SavedCall {

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final int HEADER_BYTES = 72;
    private static final int DONE = 1;
    static final int MOST_BYTES =
            HEADER_BYTES + CallFrame.SLOTS * 8 + Call.ARGUMENT_BYTES + Call.RESULT_BYTES + Call.SCRATCH_BYTES;

    private SavedCall() {}

    private static int padded(int bytes) {
        return (bytes + 7) & -8;
    }

    private static int bytes(int slots, int arguments, int result, int scratch) {
        return HEADER_BYTES + slots * 8 + padded(arguments) + padded(result) + padded(scratch);
    }

    static int bytes(CallFrame frame, int slots) {
        return bytes(slots, frame.argumentBytes, frame.resultBytes, frame.scratchBytes);
    }

    static void write(CallFrame frame, int slots, MemorySegment to, long at) {
        to.set(INT, at, frame.resume);
        to.set(INT, at + 4, frame.done ? DONE : 0);
        to.set(LONG, at + 8, frame.fuelUsed);
        to.set(LONG, at + 16, frame.address);
        to.set(LONG, at + 24, frame.expected);
        to.set(LONG, at + 32, frame.value);
        to.set(LONG, at + 40, frame.done ? ProcedureMemory.getLong(frame.mailbox) : 0);
        to.set(INT, at + 48, frame.scratchAt);
        to.set(INT, at + 52, frame.count);
        to.set(INT, at + 56, frame.argumentBytes);
        to.set(INT, at + 60, frame.resultBytes);
        to.set(INT, at + 64, frame.scratchBytes);
        to.set(INT, at + 68, slots);
        long next = at + HEADER_BYTES;
        for (int i = 0; i < slots; i++, next += 8) {
            to.set(LONG, next, frame.slots[i]);
        }
        next = copy(frame.arguments, frame.argumentBytes, to, next);
        next = copy(frame.results, frame.resultBytes, to, next);
        copy(frame.scratch, frame.scratchBytes, to, next);
    }

    private static long copy(long from, int bytes, MemorySegment to, long at) {
        MemorySegment.copy(NativeMemory.ALL, from, to, at, bytes);
        for (int i = bytes; i < padded(bytes); i++) {
            to.set(ValueLayout.JAVA_BYTE, at + i, (byte) 0);
        }
        return at + padded(bytes);
    }

    /** Returns whether the bytes are consistent; if not, the frame is unchanged. */
    static boolean read(CallFrame frame, CodeShape shape, MemorySegment from, long at, int bytes) {
        if (bytes < HEADER_BYTES || at < 0 || at > from.byteSize() - bytes) {
            return false;
        }
        int resume = from.get(INT, at);
        int flags = from.get(INT, at + 4);
        long fuelUsed = from.get(LONG, at + 8);
        int argumentBytes = from.get(INT, at + 56);
        int resultBytes = from.get(INT, at + 60);
        int scratchBytes = from.get(INT, at + 64);
        int slots = from.get(INT, at + 68);
        if (resume < 0
                || resume >= shape.points()
                || (flags & ~DONE) != 0
                || fuelUsed < 0
                || slots != shape.slots()[resume & shape.mask()]
                || outside(argumentBytes, Call.ARGUMENT_BYTES)
                || outside(resultBytes, frame.resultCapacity)
                || outside(scratchBytes, Call.SCRATCH_BYTES)
                || bytes != bytes(slots, argumentBytes, resultBytes, scratchBytes)) {
            return false;
        }
        frame.resume = resume;
        frame.done = flags == DONE;
        frame.fuelUsed = fuelUsed;
        frame.address = from.get(LONG, at + 16);
        frame.expected = from.get(LONG, at + 24);
        frame.value = from.get(LONG, at + 32);
        ProcedureMemory.putLong(frame.mailbox, from.get(LONG, at + 40));
        frame.scratchAt = from.get(INT, at + 48);
        frame.count = from.get(INT, at + 52);
        frame.argumentBytes = argumentBytes;
        frame.resultBytes = resultBytes;
        frame.scratchBytes = scratchBytes;
        long next = at + HEADER_BYTES;
        for (int i = 0; i < slots; i++, next += 8) {
            frame.slots[i] = from.get(LONG, next);
        }
        next = copy(from, next, argumentBytes, frame.arguments);
        next = copy(from, next, resultBytes, frame.results);
        copy(from, next, scratchBytes, frame.scratch);
        return true;
    }

    private static boolean outside(int bytes, int most) {
        return bytes < 0 || bytes > most;
    }

    private static long copy(MemorySegment from, long at, int bytes, long to) {
        MemorySegment.copy(from, at, NativeMemory.ALL, to, bytes);
        return at + padded(bytes);
    }
}
