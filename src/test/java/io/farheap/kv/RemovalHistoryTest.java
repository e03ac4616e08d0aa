package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class RemovalHistoryTest {

    private final RemovalHistory history = new RemovalHistory();

    @Test
    void twoDeletesHaveNotRemovedOneObject() {
        history.inserted(1, 2);
        history.removed(3, 6);
        assertNull(history.violation());
        history.removed(4, 5);
        assertNotNull(history.violation());
    }

    @Test
    void anInsertionBetweenThemMayHaveGivenTheSecondItsObject() {
        history.inserted(1, 2);
        history.removed(3, 6);
        history.removed(8, 9);
        history.inserted(5, 7);
        assertNull(history.violation());
        history.removed(8, 10);
        assertNotNull(history.violation());
    }

    @Test
    void anInsertionWithoutAnAnswerMayComeAtAnyTime() {
        history.inserted(1, 2);
        history.removed(3, 4);
        history.removed(100, 101);
        history.inserted(3, Long.MAX_VALUE);
        assertNull(history.violation());
        history.inserted(102, 103);
        history.removed(50, 60);
        assertNotNull(history.violation());
    }

    /** A span between two of many deletes. */
    @Test
    void eachPairIsCompared() {
        for (int i = 0; i < 1000; i += 10) {
            history.inserted(i, i + 1);
            history.removed(i + 2, i + 3);
        }
        assertNull(history.violation());
        history.removed(504, 505);
        assertNotNull(history.violation());
    }
}
