package io.farheap.command;

import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.io.PrintWriter;

/** The one loud line that says when a command runs on the software device because there is no other. */
public final class DeviceNotice {

    private DeviceNotice() {}

    /** Loads the verbs library. Silent where the user chose it, and on a real device. */
    public static void print(PrintWriter err) {
        if (Devices.library() == VerbsLibrary.SOFT && System.getProperty(VerbsLibrary.PROPERTY) == null) {
            err.println("farheap: NO RDMA PORT IS ACTIVE: using the software device (shared memory, this host only); -D"
                    + VerbsLibrary.PROPERTY + "=soft or =system chooses");
            err.flush();
        }
    }
}
