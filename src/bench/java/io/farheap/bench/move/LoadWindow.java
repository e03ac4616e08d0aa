package io.farheap.bench.move;

/** The work of a load in a window of time: from its creation until {@link #end}. */
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
     * Ends the window as soon as any request is done: a rate of 0, which a short window on a busy machine may have,
     * cannot be compared with any other.
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

    /** Returns by how many percent fewer requests were done each second than in another window. */
    public double dropPercent(LoadWindow quiet) {
        return 100 * (1 - perSecond() / quiet.perSecond());
    }

    /** Returns how many fewer requests were done than at the rate of another window; below 0 if more were done. */
    public double forgone(LoadWindow quiet) {
        return forgone(quiet.perSecond(), perSecond(), nanos);
    }

    /**
     * Returns how many fewer requests are done in a time of this window's kind than at the rate of another window.
     *
     * @param nanos the time, which may differ from the window's
     */
    public double forgone(LoadWindow quiet, long nanos) {
        return forgone(quiet.perSecond(), perSecond(), nanos);
    }

    static double forgone(double quietPerSecond, double perSecond, long nanos) {
        return (quietPerSecond - perSecond) * (nanos / 1e9);
    }
}
