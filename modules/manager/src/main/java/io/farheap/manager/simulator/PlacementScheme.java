package io.farheap.manager.simulator;

import java.util.Locale;

/** A way to choose the servers of coded ranges. */
enum PlacementScheme {

    /** Random servers, as in EC-Cache. */
    RANDOM,
    /** The less loaded of two random servers for each slab. */
    TWO_CHOICES,
    /** The least loaded servers of a random extended group. */
    CODING_SETS,
    /** The least loaded servers of the emptier of two random extended groups. */
    EMPTIER_GROUP;

    boolean grouped() {
        return this == CODING_SETS || this == EMPTIER_GROUP;
    }

    /** Returns the number of random servers, or groups, of which the least loaded is taken. */
    int candidates() {
        return this == TWO_CHOICES || this == EMPTIER_GROUP ? 2 : 1;
    }

    /** Returns its name in figures. */
    String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
