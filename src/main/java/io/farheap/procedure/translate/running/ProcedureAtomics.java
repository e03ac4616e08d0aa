package io.farheap.procedure.translate.running;

import io.farheap.memory.NativeMemory;
import io.farheap.procedure.Call;
import io.farheap.procedure.CallStatus;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * Atomics of procedures, each under its region's lock. The words themselves are changed by atomic instructions, so a
 * one-sided read or write of a whole word falls before or after. A result below 0 means that the code must leave.
 */
public final class ProcedureAtomics {

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private ProcedureAtomics() {}

    /** Returns 1 if the word was set, else 0. */
    static int compareAndSet(CallFrame frame, long address, long expected, long value) {
        long place = word(frame, address, CallContext.COMPARE_AND_SET);
        if (place == 0) {
            frame.expected = expected;
            frame.value = value;
            return -1;
        }
        if (place == frame.mailbox) {
            return answer(frame);
        }
        int lock = lock(frame, address, CallContext.COMPARE_AND_SET);
        if (lock == RegionLocks.NONE) {
            frame.expected = expected;
            frame.value = value;
            return -1;
        }
        boolean set = WORD.compareAndSet(NativeMemory.ALL, place, expected, value);
        RegionLocks.unlock(lock);
        return set ? 1 : 0;
    }

    /**
     * Takes the lock of the region that was located. If another thread has it for long, the code leaves as at the end
     * of its slice, and the next slice makes the access again: the thread does not wait for another one.
     */
    private static int lock(CallFrame frame, long address, int kind) {
        int lock = RegionLocks.lock(frame.region);
        if (lock == RegionLocks.NONE) {
            frame.address = address;
            frame.kind = kind;
            frame.outcome = CallFrame.FUEL;
        }
        return lock;
    }

    private static int answer(CallFrame frame) {
        return ProcedureMemory.getLong(frame.mailbox) == 0 ? 0 : 1;
    }

    private static long word(CallFrame frame, long address, int kind) {
        if ((address & 7) != 0) {
            return frame.refuse(CallStatus.NOT_ALIGNED, address);
        }
        return frame.locate(address, 8, kind);
    }

    /** The value before is in {@link CallFrame#found}. */
    static int getAndAdd(CallFrame frame, long address, long delta) {
        long place = word(frame, address, CallContext.ADD);
        if (place == 0) {
            frame.value = delta;
            return -1;
        }
        if (place == frame.mailbox) {
            frame.found = ProcedureMemory.getLong(place);
            return 0;
        }
        int lock = lock(frame, address, CallContext.ADD);
        if (lock == RegionLocks.NONE) {
            frame.value = delta;
            return -1;
        }
        frame.found = (long) WORD.getAndAdd(NativeMemory.ALL, place, delta);
        RegionLocks.unlock(lock);
        return 0;
    }

    /** Returns 1 if all words were set, 0 if none was. */
    static int compareAndSetAll(CallFrame frame, int scratchAt, int words) {
        frame.scratchAt = scratchAt;
        frame.count = words;
        if (frame.done) {
            frame.locate(0, 0, CallContext.SET);
            return answer(frame);
        }
        if (words < 0 || words > Call.MOST_WORDS_SET) {
            frame.refuse(CallStatus.OUT_OF_RANGE, scratchAt);
            return -1;
        }
        if (ProcedureMemory.checkScratch(frame, scratchAt, words * Call.WORD_SET_BYTES) < 0) {
            return -1;
        }
        if (words == 0) {
            return 1;
        }
        long first = part(frame, scratchAt, 0);
        if (!oneRegion(frame, scratchAt, words, first) || word(frame, first, CallContext.SET) == 0) {
            frame.bytes = words * Call.WORD_SET_BYTES;
            return -1;
        }
        int lock = lock(frame, first, CallContext.SET);
        return lock == RegionLocks.NONE ? -1 : set(frame, scratchAt, words, lock);
    }

    private static long part(CallFrame frame, int scratchAt, int offset) {
        return ProcedureMemory.getLong(frame.scratch + ((scratchAt + offset) & frame.placeMask));
    }

    private static boolean oneRegion(CallFrame frame, int scratchAt, int words, long first) {
        for (int i = 0; i < words; i++) {
            long address = part(frame, scratchAt, i * Call.WORD_SET_BYTES);
            long offset = address - frame.from;
            int wrong = CallStatus.DONE;
            if ((address & 7) != 0) {
                wrong = CallStatus.NOT_ALIGNED;
            } else if (Long.compareUnsigned(offset, frame.span) >= 0 || frame.span - offset < 8) {
                wrong = CallStatus.OUT_OF_RANGE;
            } else if ((address & ~frame.mask) != (first & ~frame.mask)) {
                wrong = CallStatus.SPLIT;
            }
            if (wrong != CallStatus.DONE) {
                frame.refuse(wrong, address);
                return false;
            }
        }
        return true;
    }

    private static int set(CallFrame frame, int scratchAt, int words, int lock) {
        try {
            for (int i = 0; i < words; i++) {
                if ((long) WORD.getVolatile(NativeMemory.ALL, place(frame, scratchAt, i))
                        != part(frame, scratchAt, i * Call.WORD_SET_BYTES + 8)) {
                    return 0;
                }
            }
            for (int i = 0; i < words; i++) {
                WORD.setRelease(
                        NativeMemory.ALL,
                        place(frame, scratchAt, i),
                        part(frame, scratchAt, i * Call.WORD_SET_BYTES + 16));
            }
            return 1;
        } finally {
            RegionLocks.unlock(lock);
        }
    }

    private static long place(CallFrame frame, int scratchAt, int word) {
        return frame.region + (part(frame, scratchAt, word * Call.WORD_SET_BYTES) & frame.mask & ~7L);
    }
}
