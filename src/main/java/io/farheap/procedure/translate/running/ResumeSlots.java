package io.farheap.procedure.translate.running;

/** Stores the values that a resume point keeps in the frame's slots, as longs, and loads them again. */
public final class ResumeSlots {

    private ResumeSlots() {}

    static void keep(int value, CallFrame frame, int slot) {
        frame.slots[slot] = value;
    }

    static void keep(long value, CallFrame frame, int slot) {
        frame.slots[slot] = value;
    }

    static void keep(float value, CallFrame frame, int slot) {
        frame.slots[slot] = Float.floatToRawIntBits(value);
    }

    static void keep(double value, CallFrame frame, int slot) {
        frame.slots[slot] = Double.doubleToRawLongBits(value);
    }

    static int keptInt(CallFrame frame, int slot) {
        return (int) frame.slots[slot];
    }

    static long keptLong(CallFrame frame, int slot) {
        return frame.slots[slot];
    }

    static float keptFloat(CallFrame frame, int slot) {
        return Float.intBitsToFloat((int) frame.slots[slot]);
    }

    static double keptDouble(CallFrame frame, int slot) {
        return Double.longBitsToDouble(frame.slots[slot]);
    }
}
