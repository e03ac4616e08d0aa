package io.farheap.runner;

import java.util.HashSet;
import java.util.Set;

/** A piece while its items run, among those of others. */
final class RunningPiece {

    private final Piece piece;
    private final Tally tally = new Tally();
    private final Set<String> left = new HashSet<>();
    private boolean failed;
    private long startNanos = Long.MAX_VALUE;
    private long endNanos;

    RunningPiece(Piece piece) {
        this.piece = piece;
        piece.items().forEach(item -> left.add(item.name()));
    }

    Piece piece() {
        return piece;
    }

    Tally tally() {
        return tally;
    }

    /**
     * Notes that an item has ended, of this piece or of another.
     *
     * @param nanos a clock's time, from the same beginning at each call
     * @return whether it was the last of this piece
     */
    boolean ended(Item item, Ending ending, Outcome outcome, long nanos) {
        if (!left.remove(item.name())) {
            return false;
        }
        // Another JVM runs what was behind a class that ended this one.
        outcome.rest().forEach(rest -> left.add(rest.name()));
        // An item that was not run, since a build failed, has no result.
        failed |= !ending.trouble().isEmpty() || outcome.results().stream().anyMatch(result -> result.failed() > 0);
        startNanos = Math.min(startNanos, nanos - (long) (ending.seconds() * 1e9));
        endNanos = nanos;
        return left.isEmpty();
    }

    boolean passed() {
        return left.isEmpty() && !failed;
    }

    /** From the start of its first item to the end of its last. */
    double seconds() {
        return (endNanos - startNanos) / 1e9;
    }
}
