package io.farheap.procedure.translate.running;

/** What a resume point keeps, as longs. */
public final class Slots {

    private Slots() {}

    static void keep(int value, Frame frame, int slot) {
        frame.slots[slot] = value;
    }

    static void keep(long value, Frame frame, int slot) {
        frame.slots[slot] = value;
    }

    static void keep(float value, Frame frame, int slot) {
        frame.slots[slot] = Float.floatToRawIntBits(value);
    }

    static void keep(double value, Frame frame, int slot) {
        frame.slots[slot] = Double.doubleToRawLongBits(value);
    }

    static int keptInt(Frame frame, int slot) {
        return (int) frame.slots[slot];
    }

    static long keptLong(Frame frame, int slot) {
        return frame.slots[slot];
    }

    static float keptFloat(Frame frame, int slot) {
        return Float.intBitsToFloat((int) frame.slots[slot]);
    }

    static double keptDouble(Frame frame, int slot) {
        return Double.longBitsToDouble(frame.slots[slot]);
    }
}
