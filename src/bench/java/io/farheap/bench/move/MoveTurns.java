package io.farheap.bench.move;

import io.farheap.bench.report.Samples;

/** The turns of a case: each a quiet time, a memcpy and a move, under one load. */
public final class MoveTurns {

    private final Samples drop = new Samples();
    private final Samples memcpyDrop = new Samples();
    private final Samples perSecond = new Samples();
    private final Samples longest = new Samples();
    private final Samples quiet = new Samples();
    private final Samples gib = new Samples();
    private final Samples total = new Samples();
    private final Samples copy = new Samples();

    /**
     * @param before the quiet time
     * @param beside the memcpy's time
     * @param during the move's time
     */
    public void add(
            LoadWindow before, LoadWindow beside, LoadWindow during, double gibPerSecond, double memcpyGibPerSecond) {
        perSecond.add(before.perSecond());
        drop.add(during.dropPercent(before));
        memcpyDrop.add(beside.dropPercent(before));
        longest.add(during.longestMicros());
        quiet.add(before.longestMicros());
        gib.add(gibPerSecond);
        total.add(during.nanos() / 1e6);
        copy.add(memcpyGibPerSecond);
    }

    public MoveFigures figures() {
        return new MoveFigures(
                drop.median(),
                memcpyDrop.median(),
                perSecond.median(),
                longest.median(),
                longest.most(),
                quiet.median(),
                gib.median(),
                total.median(),
                copy.median());
    }
}
