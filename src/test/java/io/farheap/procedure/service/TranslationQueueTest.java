package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whose class is translated next. */
class TranslationQueueTest {

    private final ArrayDeque<Runnable> runs = new ArrayDeque<>();
    private boolean noThread;
    private final TranslationQueue queue = new TranslationQueue(run -> {
        if (noThread) {
            throw new OutOfMemoryError("no thread, on purpose");
        }
        runs.add(run);
    });
    private final List<String> translated = new ArrayList<>();

    private boolean add(String client, int number) {
        return queue.add(client, () -> translated.add(client + number));
    }

    private void run(int count) {
        for (int i = 0; i < count; i++) {
            runs.remove().run();
        }
    }

    /** However many registrations of one client wait, another's is the next but one. */
    @Test
    void clientsTakeTurns() {
        int many = 0;
        while (add("many", many)) {
            many++;
            assertTrue(many < 1000, "a client fills the queue");
        }
        assertTrue(add("few", 0), "another client's is taken");
        run(2);
        assertEquals(List.of("many0", "few0"), translated);
        assertTrue(add("few", 1));
        assertTrue(add("third", 0));
        assertTrue(add("third", 1));
        run(5);
        assertEquals(List.of("many1", "few1", "third0", "many2", "third1"), translated.subList(2, 7));
        run(runs.size());
        assertEquals(many + 4, translated.size());
        assertEquals("many" + (many - 1), translated.getLast());
    }

    /** A registration without a run would wait for the next one's, and that for the next. */
    @Test
    void oneForWhichThereIsNoThreadIsNotAdded() {
        noThread = true;
        assertThrows(OutOfMemoryError.class, () -> add("few", 0));
        noThread = false;
        assertTrue(add("few", 1));
        run(1);
        assertEquals(List.of("few1"), translated);
        assertTrue(runs.isEmpty());
    }

    @Test
    void soManyOfAClientWait() {
        for (int i = 0; i < TranslationQueue.MOST_OF_CLIENT; i++) {
            assertTrue(add("many", i));
        }
        assertFalse(add("many", 99));
        run(1);
        assertTrue(add("many", 100));
        assertFalse(add("many", 101));
        run(runs.size());
        assertEquals(TranslationQueue.MOST_OF_CLIENT + 1, translated.size());
    }
}
