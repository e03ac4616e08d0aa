package io.farheap.bench.move;

import io.farheap.bench.report.Samples;
import io.farheap.bench.report.Validity;

/** The turns of a case: each a quiet time, a memcpy and a move, under one load. One thread at a time. */
public final class MoveTurns {

    private final Samples drop = new Samples();
    private final Samples memcpyDrop = new Samples();
    private final Samples perSecond = new Samples();
    private final Samples longest = new Samples();
    private final Samples quiet = new Samples();
    private final Samples gib = new Samples();
    private final Samples wholeGib = new Samples();
    private final Samples total = new Samples();
    private final Samples copy = new Samples();
    private final Samples forgone = new Samples();
    private final Samples memcpyForgone = new Samples();
    private boolean settled;
    private Validity validity = Validity.NO_MODEL;

    /**
     * Adds a turn.
     *
     * @param before the quiet time
     * @param beside the memcpy's time
     * @param during the move's time
     * @param gibPerSecond of the phase that copies; NaN if no region moved, as for {@code wholeGibPerSecond}
     * @param wholeGibPerSecond of the whole move, with the preparation before the copy and the freeing after it
     * @param memcpyNanos of a memcpy of as many bytes as move; its window is longer, since it repeats the copy
     */
    public void add(
            LoadWindow before,
            LoadWindow beside,
            LoadWindow during,
            double gibPerSecond,
            double wholeGibPerSecond,
            double memcpyGibPerSecond,
            long memcpyNanos) {
        perSecond.add(before.perSecond());
        drop.add(during.dropPercent(before));
        memcpyDrop.add(beside.dropPercent(before));
        longest.add(during.longestMicros());
        quiet.add(before.longestMicros());
        gib.add(gibPerSecond);
        wholeGib.add(wholeGibPerSecond);
        total.add(during.nanos() / 1e6);
        copy.add(memcpyGibPerSecond);
        forgone.add(during.forgone(before));
        memcpyForgone.add(beside.forgone(before, memcpyNanos));
    }

    /** Sets whether the last three turns of the warm-up agreed within 5%; if it is not called, they did not. */
    public void settled(boolean agreed) {
        settled = agreed;
    }

    /** Adds the validity of one turn or of several. */
    public void addValidity(Validity some) {
        validity = validity.worse(some);
    }

    /** Returns the worst validity of all turns. */
    public Validity validity() {
        return validity;
    }

    public MoveFigures figures() {
        return new MoveFigures(
                drop.quartiles(),
                memcpyDrop.median(),
                perSecond.median(),
                longest.median(),
                longest.most(),
                quiet.median(),
                gib.median(),
                wholeGib.quartiles(),
                total.median(),
                copy.median(),
                forgone.median(),
                memcpyForgone.median(),
                settled,
                validity);
    }
}
