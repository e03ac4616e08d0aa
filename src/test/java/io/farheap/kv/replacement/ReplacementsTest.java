package io.farheap.kv.replacement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.policy.AccessInformation;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.Test;

/** The hit rates of replacements on loads whose best policy is known. Seeds are fixed, and so are the figures. */
class ReplacementsTest {

    private static final int OBJECTS = 1000;
    private static final int REQUESTS = 40_000;

    private final SplittableRandom random = new SplittableRandom(11);

    /** @return the key of a request in a load in which an object is used again soon, and then never */
    private int recent(int request) {
        return request / 4 - Math.min((int) -(Math.log(random.nextDouble()) * OBJECTS / 8), request / 4);
    }

    /** @return the key of a request in a load in which few objects are always used, and many are used once */
    private int frequent(int request) {
        return random.nextInt(10) < 4 ? -1 - random.nextInt(OBJECTS * 8 / 10) : 1_000_000 + request;
    }

    private static double hits(SampledCache cache, int from, int to, IntUnaryOperator load) {
        int hits = 0;
        for (int request = from; request < to; request++) {
            hits += cache.request(load.applyAsInt(request)) ? 1 : 0;
        }
        return 100.0 * hits / (to - from);
    }

    private double hits(String policy, int clients, IntUnaryOperator load) {
        return hits(new SampledCache(policy, OBJECTS, clients, 5), 0, REQUESTS, load);
    }

    @Test
    void adaptiveIsAsGoodAsTheBetterOfTwoOnEither() {
        double recentLru = hits("lru", 1, this::recent);
        double recentLfu = hits("lfu", 1, this::recent);
        assertTrue(recentLru > recentLfu + 5, "no load for LRU: " + recentLru + " and " + recentLfu);
        assertTrue(hits("adaptive", 1, this::recent) > recentLru - 0.5);
        double frequentLru = hits("lru", 1, this::frequent);
        double frequentLfu = hits("lfu", 1, this::frequent);
        assertTrue(frequentLfu > frequentLru + 5, "no load for LFU: " + frequentLfu + " and " + frequentLru);
        assertTrue(hits("adaptive", 1, this::frequent) > frequentLfu - 0.5);
    }

    @Test
    void adaptiveKeepsMoreOfALoopThatIsTooLong() {
        IntUnaryOperator loop = request -> request % (OBJECTS * 3 / 2);
        double lru = hits("lru", 1, loop);
        double adaptive = hits("adaptive", 1, loop);
        assertTrue(adaptive > lru + 5, "LRU has " + lru + ", adaptive " + adaptive);
    }

    /** @return the percentage of hits after the clients have learned */
    private static double settledHits(int clients, IntUnaryOperator load) {
        SampledCache cache = new SampledCache("adaptive", OBJECTS, clients, 5);
        hits(cache, 0, REQUESTS, load);
        return hits(cache, REQUESTS, 2 * REQUESTS, load);
    }

    @Test
    void manyClientsDoAsOne() {
        for (IntUnaryOperator load : List.<IntUnaryOperator>of(this::recent, this::frequent)) {
            double one = settledHits(1, load);
            assertEquals(one, settledHits(8, load), 1);
            assertEquals(one, settledHits(64, load), 2);
        }
    }

    @Test
    void phasesOfEitherKindAreFollowed() {
        for (String policy : List.of("adaptive", "paper")) {
            SampledCache cache = new SampledCache(policy, OBJECTS, 4, 5);
            SampledCache lru = new SampledCache("lru", OBJECTS, 4, 5);
            SampledCache lfu = new SampledCache("lfu", OBJECTS, 4, 5);
            double sum = 0;
            double lruSum = 0;
            double lfuSum = 0;
            // Four phases: "adaptive" gains 5 points on average over the better one.
            for (int phase = 0; phase < 4; phase++) {
                int from = phase * REQUESTS;
                IntUnaryOperator load = phase % 2 == 0 ? this::recent : this::frequent;
                sum += hits(cache, from, from + REQUESTS, load);
                lruSum += hits(lru, from, from + REQUESTS, load);
                lfuSum += hits(lfu, from, from + REQUESTS, load);
            }
            double best = Math.max(lruSum, lfuSum) + (policy.equals("adaptive") ? 20 : 0);
            assertTrue(sum > best, policy + " " + sum + ", LRU " + lruSum + ", LFU " + lfuSum);
            assertTrue(cache.exchanges() > 0);
        }
    }

    @Test
    void thePapersWeightsGoToTheExpertThatIsRight() {
        SampledCache recent = new SampledCache("paper", OBJECTS, 1, 5);
        hits(recent, 0, REQUESTS, this::recent);
        assertTrue(recent.weight(0) > 0.6, "LRU has " + recent.weight(0));
        SampledCache frequent = new SampledCache("paper", OBJECTS, 1, 5);
        hits(frequent, 0, REQUESTS, this::frequent);
        assertTrue(frequent.weight(1) > 0.6, "LFU has " + frequent.weight(1));
    }

    @Test
    void namesAreUnderstood() {
        assertEquals(List.of("once", "again"), Replacements.expertNames(Replacements.ADAPTIVE));
        assertEquals(List.of("lru", "lfu"), Replacements.expertNames(Replacements.PAPER));
        Replacement three = Replacements.named("lru, gdsf,lru-k:3", OBJECTS, 1);
        assertEquals(4, three.extensionWords());
        assertTrue(three.needs().containsAll(Set.of(AccessInformation.LAST_ACCESS, AccessInformation.COST)));
        assertEquals(4, three.words());
        assertEquals(three.words(), Replacements.controller("lru,gdsf,lru-k:3").words());
        for (String wrong : List.of("", "lru,", "best", "gdsf,lru-k:4", "lru,lru,lru,lru,lru,lru,lru,lru,lru")) {
            assertThrows(IllegalArgumentException.class, () -> Replacements.named(wrong, OBJECTS, 1), wrong);
        }
    }
}
