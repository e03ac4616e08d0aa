package io.farheap.procedure.service;

import io.farheap.procedure.translate.running.Translation;

/** A procedure that a lease may call, and how fast it has been lately. */
final class ServedProcedure {

    /** What a slice aims at. */
    private static final long SLICE_NANOS = 20_000;
    /** What a call gets before it has to wait for its turn: the batch that it came in waits for it. */
    private static final long FIRST_NANOS = 2_000;
    /** Before it was measured, as if it were interpreted. */
    private static final double COLD_NANOS = 40;

    private static final double FASTEST_NANOS = 0.05;
    private static final double WEIGHT = 0.25;

    /** The thread may have had to wait for its core: that says nothing of the procedure. */
    private static final double OUTLIER = 3;
    /** In turns it must be so much faster, since others' turns grow with the group. */
    private static final double WORTH = 0.9;
    /** Of so many calls, a batch or so is run the other way, to see what that would be like. */
    private static final int TRIED_MASK = 4095;

    private static final int TRIED = 16;

    final int id;
    final Translation translation;
    // Of a unit of fuel, one call after another and in turns. Several threads write all these, and may lose each
    // other's: they are estimates.
    private double straight = COLD_NANOS;
    private double turned = COLD_NANOS;
    private boolean faster;
    private int asked;

    private int firstFuel = fuel(FIRST_NANOS, COLD_NANOS);
    private int sliceFuel = fuel(SLICE_NANOS, COLD_NANOS);

    ServedProcedure(int id, Translation translation) {
        this.id = id;
        this.translation = translation;
    }

    int firstFuel() {
        return firstFuel;
    }

    /** Of a slice, which calls that run in turns divide. */
    int sliceFuel() {
        return sliceFuel;
    }

    /** Whether the next call is to run in turns with others. */
    boolean turns() {
        return (++asked & TRIED_MASK) < TRIED != faster;
    }

    /** So many units of fuel took so many ns. */
    void took(boolean inTurns, long units, long time) {
        if (units <= 0) {
            return;
        }
        double now = (double) time / units;
        if (inTurns) {
            turned = next(turned, now);
        } else {
            straight = next(straight, now);
        }
        faster = turned < straight * WORTH;
        double nanos = faster ? turned : straight;
        firstFuel = fuel(FIRST_NANOS, nanos);
        sliceFuel = fuel(SLICE_NANOS, nanos);
    }

    private static double next(double before, double now) {
        return Math.max(FASTEST_NANOS, before + WEIGHT * (Math.min(now, OUTLIER * before) - before));
    }

    private static int fuel(long time, double nanos) {
        return (int) Math.max(1, time / nanos);
    }
}
