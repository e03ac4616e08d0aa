package io.farheap.bench.resilience;

import io.farheap.command.ServerFaults;
import io.farheap.resilience.contract.Health;

/**
 * Cuts the first server off for a while: no operation reaches its device or leaves it, but its control plane answers,
 * so that it is not taken for dead.
 */
final class PartitionOutage extends Outage {

    private final ServerFaults faults;
    private final long cutNanos;
    private final long leastNanos;

    /** When the memory last became whole again, by {@link System#nanoTime}; 0 if it has not. */
    private long whole;

    private boolean missing;
    private long regenerated;

    /**
     * @param cutNanos how long the server cannot be reached
     * @param leastNanos for which the load continues afterwards, even if the memory is whole before, or never
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
            // On a busy machine the effect may come late.
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

    /** Examines the health. A slab that was regenerated between two looks was missing, too. */
    private void look() {
        Health health = health();
        if (health == null) {
            return;
        }
        // Data that is lost for good is not waited for.
        boolean some = !health.whole() && health.mayLose() >= 0;
        if (!some && health.whole() && (missing || health.regenerated() != regenerated)) {
            whole = System.nanoTime();
        }
        missing = some;
        regenerated = health.regenerated();
    }
}
