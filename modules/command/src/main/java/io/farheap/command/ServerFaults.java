package io.farheap.command;

import io.farheap.verbs.soft.SoftverbsCalls;
import java.util.Locale;

/** What is the matter with the devices of a server's process, for all who reach it: softverbs alone can be asked so. */
public final class ServerFaults implements AutoCloseable {

    private final long pid;

    /** @param pid of a process that has a device open */
    public ServerFaults(long pid) {
        this.pid = pid;
    }

    /** That part of the operations on it, 0 to 1, is executed so much later. */
    public void slow(double part, long nanos) {
        set("straggler=" + decimal(part) + ":" + nanos);
    }

    /** One byte is wrong where that part of the WRITEs to it, and of the READs from it, are stored. */
    public void corrupt(double part) {
        set("corrupt=" + decimal(part) + " corrupt_read=" + decimal(part));
    }

    /** A partition of the data path: nothing reaches it, and nothing that it asks for goes out. */
    public void cut() {
        set("link=down");
    }

    /** It can be reached again. */
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
