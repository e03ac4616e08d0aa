package io.farheap.slo;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ConfigurationSpaceTest {

    @Test
    void batchesFillFourKilobytesRoundedUp() {
        assertEquals(512, ConfigurationSpace.maxBatch(8));
        assertEquals(41, ConfigurationSpace.maxBatch(100));
        assertEquals(1, ConfigurationSpace.maxBatch(4096));
        assertEquals(1, ConfigurationSpace.maxBatch(Integer.MAX_VALUE));
        assertThrows(IllegalArgumentException.class, () -> ConfigurationSpace.maxBatch(0));
    }

    @Test
    void sizeIsTheNumberOfLeaves() {
        assertEquals(3_095_430, new ConfigurationSpace(30, 512, 4, 16).size());
        for (ConfigurationSpace space : new ConfigurationSpace[] {
            new ConfigurationSpace(5, 7, 2, 9),
            new ConfigurationSpace(1, 1, 1, 1),
            new ConfigurationSpace(5, 1, 2, 9, 0)
        }) {
            long leaves = 0;
            for (int s = space.first(Parameter.SERVER_THREADS, 0); s <= space.last(Parameter.SERVER_THREADS, 0); s++) {
                for (int c = space.first(Parameter.CLIENT_THREADS, s);
                        c <= space.last(Parameter.CLIENT_THREADS, s);
                        c++) {
                    for (int b = space.first(Parameter.BATCH_SIZE, s); b <= space.last(Parameter.BATCH_SIZE, s); b++) {
                        for (int q = space.first(Parameter.QUEUE_DEPTH, s);
                                q <= space.last(Parameter.QUEUE_DEPTH, s);
                                q++) {
                            assertTrue(space.contains(new Configuration(c, s, b, q)));
                            leaves++;
                        }
                    }
                }
            }
            assertEquals(leaves, space.size());
            assertEquals(
                    leaves, space.stream().filter(space::contains).distinct().count());
        }
    }

    @Test
    void constraintsHold() {
        assertThrows(IllegalArgumentException.class, () -> new Configuration(2, 3, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Configuration(2, 0, 2, 1));
        assertThrows(IllegalArgumentException.class, () -> new Configuration(0, 0, 1, 1));
        assertThrows(IllegalArgumentException.class, () -> new Configuration(1, 1, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> new ConfigurationSpace(4, 8, 9, 8));
        assertThrows(IllegalArgumentException.class, () -> new ConfigurationSpace(4, 8, 1, 8, 3));
        assertFalse(new ConfigurationSpace(4, 1, 1, 8, 0).contains(new Configuration(1, 1, 1, 1)));
    }

    @Test
    void cheapestFirstIsServerThreadsThenClientThreadsThenBatchThenDepth() {
        Configuration[] sorted = {
            new Configuration(9, 0, 1, 9),
            new Configuration(1, 1, 9, 9),
            new Configuration(2, 1, 1, 9),
            new Configuration(2, 1, 2, 1),
            new Configuration(2, 1, 2, 2)
        };
        Configuration[] shuffled = {sorted[4], sorted[1], sorted[3], sorted[0], sorted[2]};
        Arrays.sort(shuffled, Configuration.CHEAPEST_FIRST);
        assertArrayEquals(sorted, shuffled);
    }
}
