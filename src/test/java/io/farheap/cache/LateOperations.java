package io.farheap.cache;

import io.farheap.testing.Shell;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsLibrary;
import java.util.concurrent.TimeUnit;

/**
 * Makes the operations that clients post from now on late: on softverbs by a fault of its own, on the guest's two
 * devices by the cable between them. A test that uses it needs {@link io.farheap.testing.Need#LATE_OPERATIONS}.
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

    /**
     * New operations are on time again. Late operations stay late on softverbs; the cable loses them, and the device
     * sends them again.
     */
    static void no() {
        if (Devices.library() == VerbsLibrary.SOFT) {
            SoftverbsFaults.delayOperations(0);
        } else {
            Shell.run("tc qdisc del dev veth0 root");
        }
    }
}
