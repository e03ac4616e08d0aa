package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What the middle one of three tiers owes. */
class OwedByThreeTest {

    private static final int SEGMENT = OwedTiers.SEGMENT;
    private static final int HELD = 2;

    private final MemoryDevice fast = OwedTiers.device(HELD);
    private final MemoryDevice middle = OwedTiers.device(2 * HELD);
    private final MemoryDevice last = OwedTiers.device();

    /** The last tier has it, so the fast one need not keep it. */
    @Test
    void theLogGoesOnIfTheLastHasIt() {
        OwedTiers.refuse(middle, Fault.FAILED);
        try (OwedTiers owed = new OwedTiers(List.of(fast, middle, last))) {
            for (int segment = 0; segment < 3 * HELD; segment++) {
                owed.appendWhole(segment);
            }
            owed.assertHas(last, 0, SEGMENT, 1);
            OwedTiers.refuse(middle, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            owed.assertHas(middle, 3L * HELD * SEGMENT - SEGMENT, SEGMENT, 3 * HELD);
        }
    }
}
