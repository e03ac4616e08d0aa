package io.farheap.bench.resilience;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

/** Processor time of the calling thread. It costs a system call, so it is not read within a timed operation. */
final class CpuTime {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private CpuTime() {}

    /** Returns the time in ns; NaN if the machine does not provide it. */
    static double now() {
        return THREADS.isCurrentThreadCpuTimeSupported() ? THREADS.getCurrentThreadCpuTime() : Double.NaN;
    }
}
