package io.farheap.bench;

import io.farheap.migration.MigrationOptions;
import java.util.Locale;

/**
 * What some regions move like.
 *
 * @param move how many; 0 for none, where what would be noise is measured
 * @param options how
 */
record MoveCase(int move, MigrationOptions options) {

    String name() {
        return move == 0 ? "none" : options.pause().name().toLowerCase(Locale.ROOT);
    }

    /** Whether reads go on from the old copy, for people. */
    String reads() {
        return move == 0 ? "" : options.unpausedReads() ? "go on" : "wait";
    }
}
