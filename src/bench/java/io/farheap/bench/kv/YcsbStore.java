package io.farheap.bench.kv;

import io.farheap.bench.report.SideSetup;
import java.util.List;

/** A store that has the objects of YCSB, for one point of the table. */
interface YcsbStore extends AutoCloseable {

    /** The value of {@code engine} in its rows. */
    String engine();

    /** The NIC model under which it is measured, as in {@link io.farheap.measure.SoftverbsModel}. */
    String model();

    /** Returns the processor time of its server's process so far, in ns. */
    long serverCpuNanos();

    /** Returns the means that it needs for so many sessions. */
    SideSetup setup(int sessions);

    /**
     * Returns the factory of its clients.
     *
     * @param requests by the number of the thread
     */
    ClosedLoop.LoopClientFactory clients(List<YcsbRequests> requests);

    @Override
    void close();
}
