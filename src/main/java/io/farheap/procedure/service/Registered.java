package io.farheap.procedure.service;

import io.farheap.procedure.translate.Translation;

/** A procedure that a lease may call, and how fast it has been lately. */
final class Registered {

    /** What a slice aims at. */
    private static final long SLICE_NANOS = 20_000;
    /** What a call gets before it has to wait for its turn: the batch that it came in waits for it. */
    private static final long FIRST_NANOS = 2_000;
    /** Before it was measured, as if it were interpreted. */
    private static final double COLD_NANOS = 40;

    private static final double FASTEST_NANOS = 0.05;
    private static final double WEIGHT = 0.25;

    final int id;
    final Translation translation;
    /** Of a unit of fuel. Several threads write it, and may lose each other's: it is an estimate. */
    private double nanos = COLD_NANOS;

    private int firstFuel = fuel(FIRST_NANOS);
    private int sliceFuel = fuel(SLICE_NANOS);

    Registered(int id, Translation translation) {
        this.id = id;
        this.translation = translation;
    }

    int firstFuel() {
        return firstFuel;
    }

    int sliceFuel() {
        return sliceFuel;
    }

    /** A slice between rounds of message rings. */
    void took(long units, long time) {
        if (units > 0) {
            nanos = Math.max(FASTEST_NANOS, nanos + WEIGHT * ((double) time / units - nanos));
            firstFuel = fuel(FIRST_NANOS);
            sliceFuel = fuel(SLICE_NANOS);
        }
    }

    private int fuel(long time) {
        return (int) Math.max(1, time / nanos);
    }
}
