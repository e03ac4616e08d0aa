package io.farheap.testing;

import io.farheap.time.TimeLimit;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * The devices of servers and clients in tests, and the speed of the machine. The guest's suite sets the properties;
 * without them there is one device, the first that serves, and a processor at full speed.
 */
public final class TestDevice {

    private TestDevice() {}

    /** The device of memory servers; empty for the first that serves. */
    public static String server() {
        return System.getProperty("farheap.test.serverDevice", "");
    }

    /** The device of clients; empty for the first that serves. */
    public static String client() {
        return System.getProperty("farheap.test.clientDevice", "");
    }

    /**
     * A flag for JVMs that tests start: the optimising compiler brings other races to light, costs as much as all else
     * that they do in some seconds, and is more than an emulated processor can bear.
     */
    public static String compilerFlag() {
        return Effort.isFull() && !inGuest() ? "-XX:+TieredCompilation" : "-XX:TieredStopAtLevel=1";
    }

    /**
     * This JVM's flags for JVMs that tests start: the command line's tests have an ahead-of-time cache, with which a
     * JVM starts at two thirds of the cost.
     */
    public static List<String> aheadOfTimeFlags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> flag.startsWith("-XX:AOTCache=") || flag.startsWith("-Xlog:aot"))
                .toList();
    }

    public static boolean inGuest() {
        return Boolean.getBoolean("farheap.test.guest");
    }

    /**
     * The duration of a lease whose end a test waits for, which is longer only in the guest. It must not matter to the
     * test that a busy machine lets the lease end early.
     */
    public static long shortLease(long time) {
        return inGuest() ? patience(time) : time;
    }

    /**
     * A time limit that suits the machine: the longest that a test waits, or the duration of a lease that is renewed.
     */
    public static long patience(long time) {
        return TimeLimit.of(time);
    }
}
