package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Which time a lease is charged for. */
class RunningTimeTest {

    private long now = Long.MAX_VALUE - 1_000_000;
    private long processor = 7;
    private int readings;
    private final RunningTime time = new RunningTime(() -> now, () -> {
        readings++;
        return processor;
    });

    private long ran(long clock, long onProcessor) {
        long began = time.begin();
        now += clock;
        processor += onProcessor;
        return time.ran(began, time.now());
    }

    @Test
    void whatTakesLongIsChargedForTheTimeOnTheProcessor() {
        assertEquals(200_000, ran(200_000, 200_000));
        assertEquals(300_000, ran(10_000_000, 300_000));
        assertEquals(0, ran(10_000_000, 0));
        // The two clocks do not run at exactly the same rate.
        assertEquals(200_000, ran(200_000, 200_100));
    }

    /** The thread sleeps, or another has its core, before something begins: that is not taken off from its time. */
    @Test
    void whatPassesBeforeItBeginsIsNotItsOwn() {
        for (int i = 0; i < 10; i++) {
            assertEquals(10_000, ran(10_000, 10_000));
            now += 500_000;
            assertEquals(150_000, ran(150_000, 150_000));
            now += 300_000;
            assertEquals(150_000, ran(400_000, 150_000));
        }
    }

    /** The processor's time is not read for what is short, but once in a millisecond, when something begins. */
    @Test
    void theProcessorsTimeIsSeldomRead() {
        for (int i = 0; i < 1_000; i++) {
            assertEquals(10_000, ran(10_000, 3_000));
        }
        assertEquals(10, readings);
        assertEquals(100_000, ran(100_000, 100_000));
        // What passed between them while the thread had nothing to do is not taken off from what comes then.
        now += 3_600_000_000_000L;
        assertEquals(100_000, ran(100_000, 100_000));
    }
}
