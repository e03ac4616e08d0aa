package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class LearnedWeightsTest {

    private static final int EXPERTS = 3;
    private static final long HISTORY = 1000;
    private static final double CLOSE = 1e-9;

    private final long[] words = new long[RegretBatch.words(EXPERTS)];

    /** Sums of regrets suffice instead of lists: one client's weights and the controller's end up the same. */
    @Test
    void oneClientAndTheControllerAgree() {
        LearnedWeights client = new LearnedWeights(EXPERTS, HISTORY);
        ControllerWeights controller = new ControllerWeights(EXPERTS);
        ExpertWeights plain = new ExpertWeights(EXPERTS);
        SplittableRandom random = new SplittableRandom(5);
        int exchanges = 0;
        for (int i = 0; i < 1000; i++) {
            // All experts are regretted equally often, so no weight reaches the floor: there sums and lists differ.
            long named = 1L << i % EXPERTS;
            long age = random.nextLong(HISTORY);
            assertTrue(client.missed(age, 0, named));
            plain.regret(named, ExpertWeights.penalty(ExpertWeights.discount(HISTORY), age));
            if (client.due()) {
                exchange(client, controller);
                exchanges++;
                assertSame(controller, client);
            }
        }
        assertEquals(1000 / RegretBatch.FULL, exchanges);
        for (int expert = 0; expert < EXPERTS; expert++) {
            assertEquals(plain.weight(expert), controller.weight(expert), CLOSE);
        }
    }

    private void exchange(LearnedWeights client, ControllerWeights controller) {
        client.send(words);
        controller.answer(words);
        client.answered(words);
    }

    private static void assertSame(ControllerWeights controller, LearnedWeights client) {
        for (int expert = 0; expert < EXPERTS; expert++) {
            assertEquals(controller.weight(expert), client.weights().weight(expert), CLOSE);
        }
    }

    @Test
    void aClientLearnsWhatOthersRegretted() {
        ControllerWeights controller = new ControllerWeights(EXPERTS);
        LearnedWeights regretting = new LearnedWeights(EXPERTS, HISTORY);
        for (int i = 0; i < RegretBatch.FULL; i++) {
            regretting.missed(0, 0, 0b001);
        }
        exchange(regretting, controller);
        LearnedWeights other = new LearnedWeights(EXPERTS, HISTORY);
        exchange(other, controller);
        assertEquals(ExpertWeights.FLOOR, other.weights().weight(0), CLOSE);
    }

    /** Regrets while a batch is on its way count in addition to the answer, and are sent later. */
    @Test
    void regretsWhileABatchIsOnItsWayAreKept() {
        ControllerWeights controller = new ControllerWeights(EXPERTS);
        LearnedWeights client = new LearnedWeights(EXPERTS, HISTORY);
        for (int i = 0; i < RegretBatch.FULL; i++) {
            client.missed(0, 0, 1L << i % EXPERTS);
        }
        assertTrue(client.due());
        client.send(words);
        for (int i = 0; i < RegretBatch.FULL; i++) {
            client.missed(0, 0, i % 10 == 0 ? 0b010 : 0b111);
        }
        assertFalse(client.due(), "one is on its way");
        assertThrows(IllegalStateException.class, () -> client.send(new long[words.length]));
        controller.answer(words);
        client.answered(words);
        double before = controller.weight(1);
        assertTrue(client.weights().weight(1) < before, "the regrets since are forgotten");
        assertTrue(client.due());
        exchange(client, controller);
        assertTrue(controller.weight(1) < before);
        assertSame(controller, client);
    }

    @Test
    void expiredEntriesAreNoRegret() {
        LearnedWeights client = new LearnedWeights(EXPERTS, HISTORY);
        assertFalse(client.missed(HISTORY + 1, 0, 0b001));
        assertEquals(1.0 / EXPERTS, client.weights().weight(0), CLOSE);
        assertTrue(client.missed(HISTORY, 0, 0b001));
        assertThrows(IllegalArgumentException.class, () -> new LearnedWeights(EXPERTS, 0));
        assertThrows(IllegalArgumentException.class, () -> new LearnedWeights(EXPERTS, HistoryIds.LONGEST + 1));
    }

    @Test
    void aLostAnswerIsNotWaitedFor() {
        LearnedWeights client = new LearnedWeights(EXPERTS, HISTORY);
        client.send(words);
        client.lost();
        client.send(words);
    }

    @Test
    void theControllerTakesNoNonsense() {
        ControllerWeights controller = new ControllerWeights(2);
        double nan = Double.NaN;
        for (long[] wrong : new long[][] {
            {1, bits(0.5)},
            {-1, bits(0), bits(0)},
            {Long.MAX_VALUE, bits(0), bits(0)},
            {1, bits(1.5), bits(0)},
            {1, bits(0), bits(-0.1)},
            {1, bits(nan), bits(0)},
            {1, bits(0), bits(Double.POSITIVE_INFINITY)},
            {0, bits(1), bits(0)}
        }) {
            assertThrows(IllegalArgumentException.class, () -> controller.answer(wrong));
            assertEquals(0.5, controller.weight(0));
        }
        controller.answer(new long[] {1, bits(1), bits(0)});
        assertTrue(controller.weight(0) < 0.5);
    }

    @Test
    void theClientTakesNoNonsense() {
        LearnedWeights client = new LearnedWeights(2, HISTORY);
        for (double wrong : new double[] {0, -1, 1.5, Double.NaN}) {
            client.send(words);
            assertThrows(IllegalArgumentException.class, () -> client.answered(new long[] {bits(0.5), bits(wrong), 0}));
            assertEquals(0.5, client.weights().weight(0));
        }
    }

    private static long bits(double value) {
        return Double.doubleToRawLongBits(value);
    }
}
