package io.farheap.kv.blocks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.MapCalls;
import org.junit.jupiter.api.Test;

/** The number of segments for which a session asks at once. */
class MailboxTest {

    private static final int CLASS = 3;
    private static final int OTHER = 5;

    private final Mailbox mailbox =
            new Mailbox(new KeeperWakeup(new Thread(() -> {})), new RequestEpochs(() -> Long.MAX_VALUE), 1);

    /** A session has used up its segments before the ones come for which it asked ahead. */
    private void needs(int sizeClass) {
        assertFalse(mailbox.ask(sizeClass, sizeClass, MapCalls.FIRST));
    }

    private void answer(long kind) {
        mailbox.answerNothing(kind);
        mailbox.took();
    }

    private int wantedAhead(int sizeClass) {
        mailbox.askAhead(sizeClass);
        assertEquals(sizeClass, mailbox.asked());
        return mailbox.segmentsWanted();
    }

    @Test
    void whoUsesThemUpBeforeTheNextComesAsksForMore() {
        assertTrue(mailbox.ask(CLASS, CLASS, MapCalls.FIRST));
        assertEquals(1, mailbox.segmentsWanted());
        answer(MapCalls.SEGMENT);
        for (int wanted : new int[] {1, 2, 4, 8, 8}) {
            assertEquals(wanted, wantedAhead(CLASS));
            needs(CLASS);
            // A second need while the same class is asked for changes nothing.
            needs(CLASS);
            answer(MapCalls.SEGMENT);
        }
        assertEquals(8, wantedAhead(CLASS));
        answer(MapCalls.SEGMENT);
        assertEquals(8, wantedAhead(CLASS), "it came in time, since there were so many");
    }

    @Test
    void onlyOfThatClass() {
        wantedAhead(CLASS);
        needs(CLASS);
        answer(MapCalls.SEGMENT);
        assertEquals(1, wantedAhead(OTHER));
        // The request for this class has to wait for the one for the other class.
        needs(CLASS);
        answer(MapCalls.SEGMENT);
        assertEquals(2, wantedAhead(CLASS));
        answer(MapCalls.SEGMENT);
        wantedAhead(OTHER);
        needs(OTHER);
        answer(MapCalls.SEGMENT);
        assertEquals(2, wantedAhead(OTHER));
        answer(MapCalls.SEGMENT);
        assertEquals(1, wantedAhead(CLASS));
    }

    @Test
    void notWhereItIsHardlyUsedAnyMore() {
        wantedAhead(CLASS);
        needs(CLASS);
        answer(MapCalls.SEGMENT);
        assertEquals(CLASS, mailbox.deepClass());
        for (int i = 0; i < 5; i++) {
            assertEquals(1, wantedAhead(OTHER));
            answer(MapCalls.SEGMENT);
        }
        assertEquals(-1, mailbox.deepClass());
        assertEquals(1, wantedAhead(CLASS));
    }

    @Test
    void whereThereAreNoneItBeginsAnew() {
        wantedAhead(CLASS);
        needs(CLASS);
        answer(MapCalls.SEGMENT);
        assertEquals(2, wantedAhead(CLASS));
        answer(MapCalls.BLOCKS);
        assertEquals(1, wantedAhead(CLASS));
    }
}
