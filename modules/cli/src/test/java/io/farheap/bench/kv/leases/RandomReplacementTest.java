package io.farheap.bench.kv.leases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class RandomReplacementTest {

    @Test
    void asManyKeysAsItHoldsStay() {
        RandomReplacement model = new RandomReplacement(10, 1);
        assertTrue(LongStream.range(0, 10).noneMatch(model::use));
        assertTrue(LongStream.range(0, 10).allMatch(model::use));
        assertFalse(model.use(10));
        assertTrue(model.use(10));
    }

    /** Of keys that are equally likely, it hits the share that it holds. */
    @Test
    void uniformKeysHitTheShareThatItHolds() {
        RandomReplacement model = new RandomReplacement(100, 1);
        SplittableRandom random = new SplittableRandom(1);
        long hits = LongStream.range(0, 20_000)
                .filter(i -> model.use(random.nextLong(400)))
                .count();
        assertEquals(5_000, (double) hits, 500);
    }
}
