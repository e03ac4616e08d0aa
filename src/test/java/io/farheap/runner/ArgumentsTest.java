package io.farheap.runner;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The arguments that {@code ./farheap test} takes, and its messages for those that it refuses. */
class ArgumentsTest {

    private static String refused(String... words) {
        return assertThrows(IllegalArgumentException.class, () -> Arguments.parse(words))
                .getMessage();
    }

    @Test
    void formsAndSuites() {
        assertEquals(
                List.of("a", "b"),
                Arguments.parse(new String[] {"--full", "--piece", "a,b"}).pieces());
        assertEquals(
                List.of(Suite.NATIVE, Suite.WEAK),
                Arguments.parse(new String[] {"--suite", "native,weak"}).suites());
        assertTrue(Arguments.parse(new String[] {"--full", "--list"}).list());
    }

    @Test
    void whatIsNotThereIsRefusedWithWhatIs() {
        assertTrue(refused("--suite", "libary")
                .contains("there is no suite libary; there are sources, native, library, weak"));
        assertTrue(refused("--piece", "library-1").contains("add --full"));
        assertTrue(refused("--list").contains("add --full"));
        assertTrue(refused("--full", "--suite", "native").contains("--piece"));
        assertTrue(refused("--device", "hard").contains("soft and rxe"));
        assertTrue(refused("--fast").contains("and not --fast"));
        assertTrue(refused("--full", "--piece").contains("needs names of pieces"));
        assertThrows(IllegalArgumentException.class, () -> Effort.named("long"));
    }
}
