package io.farheap.bench.move;

import io.farheap.migration.MigrationOptions;
import java.util.Locale;

/**
 * A case of moving regions.
 *
 * @param move how many regions; 0 for none, to measure the noise
 * @param options of the migration
 */
public record MoveCase(int move, MigrationOptions options) {

    public String name() {
        return move == 0 ? "none" : options.pause().name().toLowerCase(Locale.ROOT);
    }

    /** Describes, for people, whether reads continue from the old copy. */
    public String reads() {
        return move == 0 ? "" : options.unpausedReads() ? "go on" : "wait";
    }
}
