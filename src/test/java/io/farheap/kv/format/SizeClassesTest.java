package io.farheap.kv.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SizeClassesTest {

    @Test
    void aBlockHoldsWhatItsClassIsForAndIsAtMostAnEighthLarger() {
        int before = -1;
        for (int units = 1; units <= SlotWord.MOST_UNITS; units++) {
            int sizeClass = SizeClasses.of(units);
            int block = SizeClasses.units(sizeClass);
            assertTrue(block >= units && block <= units * 9 / 8.0, units + " units in a block of " + block);
            assertTrue(sizeClass == before || sizeClass == before + 1, units + " units: no class is left out");
            assertEquals(sizeClass, SizeClasses.of(block), "a block goes back to the class that it is of");
            before = sizeClass;
        }
        assertEquals(SizeClasses.COUNT, before + 1);
    }
}
