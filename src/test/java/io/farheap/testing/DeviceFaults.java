package io.farheap.testing;

import java.util.Locale;

/**
 * Faults of one softverbs device, for all processes that reach it, such as the device of one server of many, in this
 * process or in another. A fault is in effect when its method returns. Closing ends all faults.
 */
public final class DeviceFaults implements AutoCloseable {

    private final String device;

    private DeviceFaults(String device) {
        this.device = device;
    }

    /** @param device a device of this process, such as {@code soft3}, which is open */
    public static DeviceFaults of(String device) {
        return new DeviceFaults(device);
    }

    /** The faults of all devices of a process, which has one open. */
    public static DeviceFaults ofProcess(long pid) {
        return new DeviceFaults(Long.toString(pid));
    }

    /** Delays a part of the operations on the device, 0 to 1, by {@code nanos}. */
    public void slow(double part, long nanos) {
        set("straggler=" + decimal(part) + ":" + nanos);
    }

    /** Loses a part of the attempts at operations on the device: they have no effect and no answer. */
    public void lose(double part) {
        set("lose=" + decimal(part));
    }

    /** Makes one byte wrong in the memory into which a part of the WRITEs to the device store. */
    public void corruptWrites(double part) {
        set("corrupt=" + decimal(part));
    }

    /** Makes one byte wrong in the memory into which a part of the READs from the device store. */
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

    /** Ends all faults. The device must still be open; one that was closed by its last user has no faults any more. */
    @Override
    public void close() {
        set("straggler=0 lose=0 corrupt=0 corrupt_read=0 link=up");
    }
}
