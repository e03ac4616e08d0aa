package io.farheap.bench.resilience;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Processor time of the thread that asks. It costs a system call, so it is not asked within what is timed. */
final class CpuTime {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private CpuTime() {}

    /** In ns; NaN of a machine that does not say. */
    static double now() {
        return THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : Double.NaN;
    }
}
