package io.farheap.bench.move;

/** What a load does for a while: from when it is made until it ends. */
public final class LoadWindow {

    private final MigrationLoad load;
    private final long started;
    private long done;
    private long nanos;
    private long longest;

    public LoadWindow(MigrationLoad load) {
        this.load = load;
        load.forgetLongest();
        done = load.done();
        started = System.nanoTime();
    }

    /**
     * Ends once anything has been done: nothing can be compared with a rate of 0, which a busy machine's short time may
     * have.
     */
    public void endWithSomething() {
        while (load.done() == done && load.running()) {
            Thread.yield();
        }
        end();
    }

    public void end() {
        done = load.done() - done;
        nanos = System.nanoTime() - started;
        longest = load.longestNanos();
    }

    public long nanos() {
        return nanos;
    }

    public double longestMicros() {
        return longest / 1e3;
    }

    public double perSecond() {
        return done / (nanos / 1e9);
    }

    /** How much less was done each second than in another, in percent. */
    public double dropPercent(LoadWindow quiet) {
        return 100 * (1 - perSecond() / quiet.perSecond());
    }
}
