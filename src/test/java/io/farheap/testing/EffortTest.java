package io.farheap.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class EffortTest {

    private static final String PROPERTY = "farheap.effort";

    private final String before = System.getProperty(PROPERTY);

    @AfterEach
    void restore() {
        set(before);
    }

    private static void set(String value) {
        if (value == null) {
            System.clearProperty(PROPERTY);
        } else {
            System.setProperty(PROPERTY, value);
        }
    }

    @Test
    void withoutAWordItIsShort() {
        for (String value : new String[] {null, "short"}) {
            set(value);
            assertFalse(Effort.isFull());
            assertEquals(20, Effort.count(100));
            assertEquals(1, Effort.count(3));
            assertEquals(1, Effort.seeds(5));
            assertEquals(2, Effort.fuzzSeconds());
            assertEquals(4, Effort.asked("farheap.nobodyAsks", 4, 30));
            assertEquals(List.of("a"), Effort.variants(1, "a", "b").toList());
        }
    }

    @Test
    void fullIsAllOfIt() {
        set("full");
        assertTrue(Effort.isFull());
        assertEquals(100, Effort.count(100));
        assertEquals(5, Effort.seeds(5));
        assertEquals(60, Effort.fuzzSeconds());
        assertEquals(30, Effort.asked("farheap.nobodyAsks", 4, 30));
        assertEquals(List.of("a", "b"), Effort.variants(1, "a", "b").toList());
    }

    @Test
    void aGuestDoesLeast() {
        set("guest");
        assertFalse(Effort.isFull());
        assertEquals(5, Effort.count(100));
        assertEquals(1, Effort.count(3));
        assertEquals(2, Effort.seeds(5));
        assertEquals(1, Effort.seeds(1));
        assertEquals(2, Effort.fuzzSeconds());
    }

    @Test
    void anotherWordIsRefused() {
        set("fast");
        assertEquals(
                "there is no farheap.effort fast; there are short, full, guest",
                assertThrows(IllegalArgumentException.class, Effort::isFull).getMessage());
    }
}
