package io.farheap.command;

import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.io.PrintWriter;

/** The one loud line that says that a command runs on the software device, and why no other serves. */
public final class DeviceNotice {

    private DeviceNotice() {}

    /** Loads the verbs library. Silent if the user chose the software device, and on a real one. */
    public static void print(PrintWriter err) {
        VerbsLibrary library = Devices.library();
        String why = VerbsLibrary.whySoft();
        if (library == VerbsLibrary.SOFT && why != null) {
            err.println("farheap: THE SOFTWARE DEVICE IS USED (shared memory, this host only), since " + why + "; -D"
                    + VerbsLibrary.PROPERTY + "=soft or =system chooses");
            err.flush();
        }
    }
}
