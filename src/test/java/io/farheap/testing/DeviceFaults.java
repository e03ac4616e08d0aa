package io.farheap.testing;

import java.util.Locale;

/**
 * What is the matter with one softverbs device, for all who reach it: of one server of many, in this process or in
 * another. Faults hold from when a method returns. Closing mends it.
 */
public final class DeviceFaults implements AutoCloseable {

    private final String device;

    private DeviceFaults(String device) {
        this.device = device;
    }

    /** @param device of this process, such as {@code soft3}; somebody has it open */
    public static DeviceFaults of(String device) {
        return new DeviceFaults(device);
    }

    /** All devices of a process, which has one open. */
    public static DeviceFaults ofProcess(long pid) {
        return new DeviceFaults(Long.toString(pid));
    }

    /** That part of the operations on it, 0 to 1, is executed so much later. */
    public void slow(double part, long nanos) {
        set("straggler=" + decimal(part) + ":" + nanos);
    }

    /** That part of the tries of operations on it has no effect and no answer. */
    public void lose(double part) {
        set("lose=" + decimal(part));
    }

    /** One byte is wrong where that part of the WRITEs to it are stored. */
    public void corruptWrites(double part) {
        set("corrupt=" + decimal(part));
    }

    /** One byte is wrong where that part of the READs from it are stored. */
    public void corruptReads(double part) {
        set("corrupt_read=" + decimal(part));
    }

    /** A partition of the data path: nothing reaches it and nothing comes from it. */
    public void cut() {
        set("link=down");
    }

    /** The end of the partition. */
    public void heal() {
        set("link=up");
    }

    private static String decimal(double part) {
        return String.format(Locale.ROOT, "%.6f", part);
    }

    private void set(String faults) {
        Softverbs.set("at=" + device + " " + faults);
    }

    /** Somebody must still have it open; what the last who had has closed is well already. */
    @Override
    public void close() {
        set("straggler=0 lose=0 corrupt=0 corrupt_read=0 link=up");
    }
}
