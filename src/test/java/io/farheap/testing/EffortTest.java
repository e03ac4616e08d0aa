package io.farheap.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class EffortTest {

    @Test
    void shortIsAFifthAndOneSeed() {
        Effort effort = Effort.named("short");
        assertEquals(20, effort.countOf(100));
        assertEquals(1, effort.countOf(3));
        assertEquals(1, effort.seedsOf(5));
        assertEquals(4, effort.eitherOf(4, 30));
    }

    @Test
    void fullIsAllOfIt() {
        Effort effort = Effort.named("full");
        assertEquals(100, effort.countOf(100));
        assertEquals(5, effort.seedsOf(5));
        assertEquals(30, effort.eitherOf(4, 30));
    }

    @Test
    void aGuestDoesLeast() {
        Effort effort = Effort.named("guest");
        assertEquals(5, effort.countOf(100));
        assertEquals(1, effort.countOf(3));
        assertEquals(2, effort.seedsOf(5));
        assertEquals(1, effort.seedsOf(1));
        assertEquals(4, effort.eitherOf(4, 30));
    }

    @Test
    void anotherWordIsRefused() {
        assertEquals(
                "there is no farheap.effort fast; there are short, full, guest",
                assertThrows(IllegalArgumentException.class, () -> Effort.named("fast"))
                        .getMessage());
    }
}
