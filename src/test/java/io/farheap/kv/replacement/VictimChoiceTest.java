package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.kv.policy.Policies;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class VictimChoiceTest {

    private final VictimChoice sample =
            new VictimChoice(List.of(Policies.named("lru"), Policies.named("lfu"), Policies.named("fifo")));
    private final ExpertWeights weights = new ExpertWeights(3);
    private final SplittableRandom random = new SplittableRandom(6);

    @Test
    void eachExpertNamesItsLowestAndWeightsDecide() {
        sample.begin();
        sample.offer(10, object(1, 50, 9));
        sample.offer(11, object(3, 30, 9));
        sample.offer(12, object(2, 40, 2));
        weights.regret(0b100, 3);
        int[] chosen = new int[13];
        for (int i = 0; i < 10_000; i++) {
            int slot = sample.choose(weights, random);
            chosen[slot]++;
            assertEquals(slot == 10 ? 0b100 : slot == 11 ? 0b001 : 0b010, sample.experts());
        }
        assertEquals(weights.weight(2), chosen[10] / 10_000.0, 0.02);
        assertEquals(weights.weight(0), chosen[11] / 10_000.0, 0.02);
        assertEquals(weights.weight(1), chosen[12] / 10_000.0, 0.02);
    }

    @Test
    void expertsThatAgreeAreAllNamed() {
        sample.begin();
        sample.offer(5, object(1, 10, 9));
        sample.offer(6, object(2, 50, 2));
        boolean both = false;
        for (int i = 0; i < 100; i++) {
            int slot = sample.choose(weights, random);
            assertEquals(slot == 5 ? 0b101 : 0b010, sample.experts());
            both |= slot == 5;
        }
        assertTrue(both);
    }

    @Test
    void ofEqualObjectsTheOldestAccessGoes() {
        VictimChoice lfu = new VictimChoice(List.of(Policies.named("lfu")));
        lfu.begin();
        lfu.offer(1, object(1, 20, 3));
        lfu.offer(2, object(2, 10, 3));
        lfu.offer(3, object(3, 30, 3));
        assertEquals(2, lfu.choose(new ExpertWeights(1), random));
    }

    @Test
    void whatHasExpiredGoesFirstAndNobodyIsBlamed() {
        sample.begin();
        sample.offer(1, object(1, 10, 1));
        sample.offer(2, object(90, 90, 90).expiry(99));
        sample.offer(3, object(2, 20, 2).expiry(200));
        assertEquals(2, sample.choose(weights, random));
        assertEquals(0, sample.experts());
    }

    @Test
    void nothingIsChosenOfNothing() {
        sample.begin();
        assertEquals(VictimChoice.NONE, sample.choose(weights, random));
        sample.offer(4, object(1, 1, 1));
        sample.begin();
        assertEquals(VictimChoice.NONE, sample.choose(weights, random));
        assertEquals(0, sample.objects());
    }

    private static ObjectMetadata object(long inserted, long accessed, long frequency) {
        return new ObjectMetadata()
                .insertTime(inserted)
                .lastAccess(accessed)
                .frequency(frequency)
                .now(100);
    }
}
