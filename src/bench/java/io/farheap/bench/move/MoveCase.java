package io.farheap.bench.move;

import io.farheap.migration.MigrationOptions;
import java.util.Locale;

/**
 * What some regions move like.
 *
 * @param move how many; 0 for none, where what would be noise is measured
 * @param options how
 */
public record MoveCase(int move, MigrationOptions options) {

    public String name() {
        return move == 0 ? "none" : options.pause().name().toLowerCase(Locale.ROOT);
    }

    /** Whether reads go on from the old copy, for people. */
    public String reads() {
        return move == 0 ? "" : options.unpausedReads() ? "go on" : "wait";
    }
}
