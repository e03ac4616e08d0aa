package io.farheap.kv.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PoliciesTest {

    private static final int CAPACITY = 50;

    static Stream<String> names() {
        return Policies.names().stream();
    }

    @Test
    void theTwelveOfThePaperAreThere() {
        assertEquals(
                List.of(
                        "fifo",
                        "gds",
                        "gdsf",
                        "hyperbolic",
                        "lfu",
                        "lfuda",
                        "lirs",
                        "lrfu",
                        "lru",
                        "lru-k",
                        "mru",
                        "size"),
                Policies.names());
    }

    /** If each sample has all objects, a policy decides like its textbook version. */
    @ParameterizedTest
    @MethodSource("names")
    void isExactWhereTheSampleIsTheWhole(String name) {
        for (int seed = 1; seed <= 3; seed++) {
            compare(name, RequestsOf.mixed(5_000, 300, seed));
        }
    }

    /** The same on a trace of a user's cache: {@code -Dfarheap.trace=FILE}, with one key in each line. */
    @ParameterizedTest
    @MethodSource("names")
    @EnabledIfSystemProperty(named = "farheap.trace", matches = ".+")
    void isExactOnATrace(String name) {
        compare(name, RequestsOf.file(System.getProperty("farheap.trace"), 20_000));
    }

    private static void compare(String name, int[] keys) {
        WholeSampleCache cache = new WholeSampleCache(Policies.named(name.equals("lrfu") ? "lrfu:64" : name), CAPACITY);
        ExactCache exact = ExactCache.of(name, CAPACITY);
        int hits = 0;
        for (int i = 0; i < keys.length; i++) {
            int size = 1 + Math.floorMod(keys[i] * 31, 7);
            double cost = 1 << Math.floorMod(keys[i] * 17, 5);
            boolean hit = exact.request(keys[i], size, cost);
            assertEquals(hit, cache.request(keys[i], size, cost), name + ", request " + i);
            hits += hit ? 1 : 0;
        }
        assertTrue(hits > 0 && hits < keys.length, "a trace that tells nothing: " + hits + " hits");
    }

    /** A slot may have any words if its object changed while it was read. */
    @ParameterizedTest
    @MethodSource("names")
    void anyWordsGiveANumber(String name) {
        EvictionPolicy policy = Policies.named(name);
        long[] odd = {0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, Double.doubleToLongBits(Double.NaN)};
        for (long a : odd) {
            for (long b : odd) {
                ObjectMetadata object = new ObjectMetadata()
                        .insertTime(a)
                        .lastAccess(b)
                        .frequency(b)
                        .size(a)
                        .now(1_000_000);
                for (int word = 0; word < ObjectMetadata.EXTENSION_WORDS; word++) {
                    object.extension(word, word % 2 == 0 ? a : b);
                }
                assertFalse(Double.isNaN(policy.priority(object)), name);
                policy.update(object);
                policy.evicted(policy.priority(object));
                assertFalse(Double.isNaN(policy.priority(object)), name);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void needsAnExtensionExactlyIfItKeepsOne(String name) {
        EvictionPolicy policy = Policies.named(name);
        assertEquals(policy.extensionWords() > 0, policy.needs().contains(AccessInformation.EXTENSION));
        assertTrue(policy.extensionWords() <= ObjectMetadata.EXTENSION_WORDS);
    }

    @Test
    void sessionsThatShareObjectsAgeTogether() {
        EvictionPolicy evicting = Policies.named("lfuda");
        EvictionPolicy other = Policies.named("lfuda");
        evicting.evicted(109);
        ObjectMetadata shared = new ObjectMetadata().frequency(1);
        evicting.update(shared);
        assertEquals(109, shared.extensionNumber(0));
        other.update(shared);
        ObjectMetadata fresh = new ObjectMetadata();
        other.update(fresh);
        assertEquals(109, fresh.extensionNumber(0), "the other session heard of the age through the object");
    }

    @Test
    void namesAreCheckedAndListed() {
        assertEquals(Lru.class, Policies.named("LRU").getClass());
        assertEquals(3, Policies.named("lru-k:3").extensionWords());
        assertEquals(
                "no policy is named \"clock\"; there are fifo, gds, gdsf, hyperbolic, lfu, lfuda, lirs, lrfu, lru, lru-k, mru, size",
                assertThrows(IllegalArgumentException.class, () -> Policies.named("clock"))
                        .getMessage());
        for (String wrong : List.of("", "lru:3", "lru-k:1", "lru-k:5", "lru-k:", "lrfu:0", "lrfu:-1", "lrfu:x")) {
            assertThrows(IllegalArgumentException.class, () -> Policies.named(wrong), wrong);
        }
    }
}
