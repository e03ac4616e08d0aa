package io.farheap.procedure.service;

import io.farheap.procedure.translate.running.Translation;
import org.jspecify.annotations.Nullable;

/** A procedure that a lease may call, with the time that a unit of its fuel has taken recently. */
final class ServedProcedure {

    /** Time that a slice aims at. */
    private static final long SLICE_NANOS = 20_000;
    /** Time that a call runs before it is put off: the batch that it came in waits for it. */
    private static final long FIRST_NANOS = 2_000;
    /** Time of a unit of fuel before it was measured, as if the code were interpreted. */
    private static final double COLD_NANOS = 40;

    private static final double FASTEST_NANOS = 0.05;
    private static final double WEIGHT = 0.25;

    /**
     * A larger value is cut to this multiple: the thread may have waited for its core, which is no property of the
     * procedure.
     */
    private static final double OUTLIER = 3;
    /**
     * Calls run in turns if a unit of fuel then takes less than this share of its time otherwise; it is below 1, since
     * each call in turns also waits for those of its group.
     */
    private static final double WORTH = 0.9;
    /** Out of so many calls, a few ({@link #TRIED}) are run the other way, to measure it. */
    private static final int TRIED_MASK = 4095;

    private static final int TRIED = 16;

    final int id;
    final Translation translation;
    // Time of a unit of fuel, if calls run one after another and in turns. Several threads write these fields and may
    // overwrite each other's values: they are estimates.
    private double straight = COLD_NANOS;
    private double turned = COLD_NANOS;
    private boolean faster;
    private double nanos = COLD_NANOS;
    private int asked;

    private int firstFuel = fuel(FIRST_NANOS, COLD_NANOS);
    private int sliceFuel = fuel(SLICE_NANOS, COLD_NANOS);

    /** For its memory; null if none was lent. */
    final @Nullable AutoCloseable loan;

    ServedProcedure(int id, Translation translation) {
        this(id, translation, null);
    }

    ServedProcedure(int id, Translation translation, @Nullable AutoCloseable loan) {
        this.id = id;
        this.translation = translation;
        this.loan = loan;
    }

    int firstFuel() {
        return firstFuel;
    }

    /** The time, in ns, that so many units of fuel are estimated to take. */
    double estimate(long units) {
        return (double) units * nanos;
    }

    /** Fuel of a slice; calls that run in turns divide it. */
    int sliceFuel() {
        return sliceFuel;
    }

    /** Whether the next call is to run in turns with others. */
    boolean turns() {
        return (++asked & TRIED_MASK) < TRIED != faster;
    }

    /** Records that so many units of fuel took so many ns. */
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
        nanos = faster ? turned : straight;
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
