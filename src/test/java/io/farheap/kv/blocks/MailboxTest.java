package io.farheap.kv.blocks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.MapCalls;
import org.junit.jupiter.api.Test;

/** How many segments a session asks for at once. */
class MailboxTest {

    private static final int CLASS = 3;
    private static final int OTHER = 5;

    private final Mailbox mailbox =
            new Mailbox(new KeeperWakeup(new Thread(() -> {})), new RequestEpochs(() -> Long.MAX_VALUE), 1);

    /** A session has used up what it had before what it asked for ahead has come. */
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
            // Others that need some while the same is asked for tell nothing new.
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
        // It is asked for behind this.
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
