package io.farheap.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class PluralsTest {

    @Test
    void oneIsSingularAndAllElseIsPlural() {
        assertEquals("1 region", Plurals.of(1, "region"));
        assertEquals("0 regions", Plurals.of(0, "region"));
        assertEquals("2 more regions", Plurals.of(2, "more region"));
        assertEquals("-1 caches", Plurals.of(-1, "cache"));
    }

    @Test
    void aNounThatHissesHasItsVowel() {
        assertEquals("1 switch", Plurals.of(1, "switch"));
        assertEquals("3 switches", Plurals.of(3, "switch"));
        assertEquals("boxes", Plurals.noun(5, "box"));
    }
}
