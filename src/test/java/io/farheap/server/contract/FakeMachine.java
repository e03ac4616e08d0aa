package io.farheap.server.contract;

import io.farheap.control.plane.ControlPlane;
import java.util.function.Supplier;

/** A machine with memory that a test sets; a server has its regions of it but those that are withdrawn. */
public final class FakeMachine implements Supplier<MachineMemory> {

    private static final int PERCENT = 25;
    private static final long PERIOD_NANOS = 20_000_000;

    private final long regionBytes;
    private final int regions;
    private final int donated;
    private volatile int others;
    private volatile int looks;
    private volatile double stalled;
    private volatile ControlPlane server;

    /**
     * @param regions the number of regions that the machine has room for; a quarter of them is headroom
     * @param donated the number of these regions that the server donates
     */
    public FakeMachine(long regionBytes, int regions, int donated) {
        this.regionBytes = regionBytes;
        this.regions = regions;
        this.donated = donated;
    }

    public Headroom headroom() {
        return new Headroom(PERCENT, PERIOD_NANOS, 2, this);
    }

    /** Sets the server that runs on the machine; before that, no region counts as withdrawn. */
    public void runs(ControlPlane memoryServer) {
        server = memoryServer;
    }

    /** Other programs have the memory of {@code count} regions. */
    public void othersHave(int count) {
        others = count;
    }

    /** Other programs take so much memory that the server must give {@code back} regions back, all in all. */
    public void wants(int back) {
        others = regions - regions * PERCENT / 100 - donated + back;
    }

    /** Some of its tasks wait for memory in {@code percent} of the time. */
    public void stalls(double percent) {
        stalled = percent;
    }

    /** How often the server has looked at it. */
    public int looks() {
        return looks;
    }

    @Override
    public MachineMemory get() {
        looks++;
        ControlPlane running = server;
        int withdrawn = running == null ? 0 : running.describe().withdrawnRegions();
        // A kernel gives away no more than it has.
        long free = Math.max(0, regions - others - (donated - withdrawn));
        return new MachineMemory(regions * regionBytes, free * regionBytes, stalled);
    }
}
