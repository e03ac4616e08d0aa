package io.farheap.command;

import io.farheap.verbs.soft.SoftverbsCalls;
import java.util.Locale;

/**
 * Faults of the devices of a server's process, for all processes that reach it: only softverbs can be asked for these.
 */
public final class ServerFaults implements AutoCloseable {

    private final long pid;

    /** @param pid of a process that has a device open */
    public ServerFaults(long pid) {
        this.pid = pid;
    }

    /** Delays a part of the operations on it, 0 to 1, by a time. */
    public void slow(double part, long nanos) {
        set("straggler=" + decimal(part) + ":" + nanos);
    }

    /** Makes one byte wrong in a part of the WRITEs to it, and in that part of the READs from it, 0 to 1. */
    public void corrupt(double part) {
        set("corrupt=" + decimal(part) + " corrupt_read=" + decimal(part));
    }

    /** Partitions the data path: no operation reaches the process, and none that it posts leaves it. */
    public void cut() {
        set("link=down");
    }

    /** Ends the partition. */
    public void heal() {
        set("link=up");
    }

    private static String decimal(double part) {
        return String.format(Locale.ROOT, "%.6f", part);
    }

    private void set(String faults) {
        String settings = "at=" + pid + " " + faults;
        if (SoftverbsCalls.control(settings) != 0) {
            throw new IllegalStateException("softverbs refuses the settings " + settings);
        }
    }

    @Override
    public void close() {
        set("straggler=0 corrupt=0 corrupt_read=0 link=up");
    }
}
