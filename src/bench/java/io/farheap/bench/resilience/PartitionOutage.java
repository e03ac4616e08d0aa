package io.farheap.bench.resilience;

import io.farheap.command.ServerFaults;
import io.farheap.resilience.contract.Health;

/**
 * Cuts the first server off for a while: nothing reaches its device and nothing comes from it, but its control plane
 * answers, so that nobody takes it for dead.
 */
final class PartitionOutage extends Outage {

    private final ServerFaults faults;
    private final long cutNanos;
    private final long leastNanos;

    /** When it was last seen to become whole; 0 where nothing was missing. */
    private long whole;

    private boolean missing;
    private long regenerated;

    /**
     * @param cutNanos how long it cannot be reached
     * @param leastNanos for which the load is to go on afterwards, also where it is whole before, or never
     */
    PartitionOutage(ServerCluster cluster, FarSide side, long cutNanos, long leastNanos) {
        super("partition", side);
        this.faults = new ServerFaults(cluster.server(0).pid());
        this.cutNanos = cutNanos;
        this.leastNanos = leastNanos;
    }

    @Override
    double take() throws InterruptedException {
        Health before = health();
        regenerated = before == null ? 0 : before.regenerated();
        long cut = System.nanoTime();
        try (faults) {
            faults.cut();
            // A busy machine's server may take a while to follow.
            long from = System.nanoTime();
            while (System.nanoTime() - from < cutNanos) {
                look();
                pause();
            }
        }
        long healed = System.nanoTime();
        while (goesOn(healed)) {
            pause();
        }
        return whole == 0 || missing ? Double.NaN : (whole - cut) / 1e6;
    }

    private boolean goesOn(long healed) {
        look();
        long nanos = System.nanoTime() - healed;
        return nanos < leastNanos || missing && nanos < PATIENCE_NANOS;
    }

    /** A slab that is regenerated between two looks was missing too. */
    private void look() {
        Health health = health();
        if (health == null) {
            return;
        }
        // What is lost for good is not waited for.
        boolean some = !health.whole() && health.mayLose() >= 0;
        if (!some && health.whole() && (missing || health.regenerated() != regenerated)) {
            whole = System.nanoTime();
        }
        missing = some;
        regenerated = health.regenerated();
    }
}
