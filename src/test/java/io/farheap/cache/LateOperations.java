package io.farheap.cache;

import io.farheap.testing.Shell;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.util.concurrent.TimeUnit;

/**
 * Makes the operations that clients post from now on late: softverbs by a fault of its own, the guest's two devices by
 * the cable between them. What needs it says {@link io.farheap.testing.Need#LATE_OPERATIONS}.
 */
final class LateOperations {

    private LateOperations() {}

    static void by(long time, TimeUnit unit) {
        if (Devices.library() == VerbsLibrary.SOFT) {
            SoftverbsFaults.delayOperations(unit.toNanos(time));
        } else {
            Shell.run("modprobe sch_netem; tc qdisc replace dev veth0 root netem delay " + unit.toMillis(time) + "ms");
        }
    }

    /** On time again. What was late stays late on softverbs; the cable loses it, and the device sends it again. */
    static void no() {
        if (Devices.library() == VerbsLibrary.SOFT) {
            SoftverbsFaults.delayOperations(0);
        } else {
            Shell.run("tc qdisc del dev veth0 root");
        }
    }
}
