package io.farheap.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** When a piece has ended and passed, among the items of others. */
class RunningPieceTest {

    private static final Ending WELL = new Ending(0, "", "", 2, 1);

    private static Item item(String name) {
        return Item.of(name, Suite.LIBRARY, (_, _) -> Outcome.NOTHING, _ -> List.of());
    }

    private static RunningPiece piece(String... items) {
        return new RunningPiece(new Piece(
                "piece", List.of(items).stream().map(RunningPieceTest::item).toList()));
    }

    @Test
    void endsWithItsLastItemAndNotWithThoseOfOthers() {
        RunningPiece piece = piece("a", "b");
        assertFalse(piece.ended(item("a"), WELL, Outcome.NOTHING, 5_000_000_000L));
        assertFalse(piece.ended(item("c"), WELL, Outcome.of(Result.failure("c", "of another piece")), 6_000_000_000L));
        assertFalse(piece.passed());
        assertTrue(piece.ended(item("b"), WELL, Outcome.NOTHING, 8_000_000_000L));
        assertTrue(piece.passed());
        assertEquals(5, piece.seconds());
    }

    @Test
    void waitsForTheRestOfAGroup() {
        RunningPiece piece = piece("a");
        Outcome interrupted =
                new Outcome(List.of(Result.failure("a.B", "its JVM ended")), List.of(), List.of(item("a+")));
        assertFalse(piece.ended(item("a"), WELL, interrupted, 1));
        assertTrue(piece.ended(item("a+"), WELL, Outcome.NOTHING, 2));
        assertFalse(piece.passed());
    }

    @Test
    void anItemThatWasNotRunHasNotPassed() {
        RunningPiece piece = piece("a");
        assertTrue(piece.ended(item("a"), new Ending(0, "not run, since Maven failed", "", 0, 0), Outcome.NOTHING, 1));
        assertFalse(piece.passed());
    }
}
