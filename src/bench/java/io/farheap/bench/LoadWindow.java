package io.farheap.bench;

/** What a load does for a while: from when it is made until it ends. */
final class LoadWindow {

    private final MigrationLoad load;
    private final long started;
    private long done;
    private long nanos;
    private long longest;

    LoadWindow(MigrationLoad load) {
        this.load = load;
        load.forgetLongest();
        done = load.done();
        started = System.nanoTime();
    }

    /**
     * Ends once anything has been done: nothing can be compared with a rate of 0, which a busy machine's short time may
     * have.
     */
    void endWithSomething() {
        while (load.done() == done && load.running()) {
            Thread.yield();
        }
        end();
    }

    void end() {
        done = load.done() - done;
        nanos = System.nanoTime() - started;
        longest = load.longestNanos();
    }

    long nanos() {
        return nanos;
    }

    double longestMicros() {
        return longest / 1e3;
    }

    double perSecond() {
        return done / (nanos / 1e9);
    }

    /** How much less was done each second than in another, in percent. */
    double dropPercent(LoadWindow quiet) {
        return 100 * (1 - perSecond() / quiet.perSecond());
    }
}
