package io.farheap.bench.child;

import java.time.Duration;
import java.util.Optional;
import java.util.stream.Stream;

/** The time that processes have spent on processors. */
public final class ProcessorTime {

    private ProcessorTime() {}

    /**
     * Returns the processor time of processes since their beginnings.
     *
     * @return in ns, each process's in whole ticks of the kernel's clock, which are 10 ms; a process that has ended has
     *     none
     */
    public static long nanos(Stream<ProcessHandle> processes) {
        return processes
                .map(process -> process.info().totalCpuDuration())
                .flatMap(Optional::stream)
                .mapToLong(Duration::toNanos)
                .sum();
    }
}
