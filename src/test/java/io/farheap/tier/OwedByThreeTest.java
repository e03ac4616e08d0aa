package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.tier.device.IoStatus;
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

    /**
     * An append that begins below the middle tier's part, and fails there, is owed from that part's beginning on, and
     * all of it once the part reaches so far.
     */
    @Test
    void aDebtBelowATiersPartIsRepaidWithTheRest() {
        try (OwedTiers owed = new OwedTiers(List.of(fast, middle, last))) {
            assertEquals(IoStatus.OK, owed.append(0, OwedTiers.BLOCK, 1));
            MemoryDevice added = OwedTiers.device(2 * HELD);
            owed.tiers.replace(1, added);
            OwedTiers.refuse(added, Fault.FAILED);
            assertEquals(IoStatus.OK, owed.append(0, SEGMENT, 1));
            OwedTiers.refuse(added, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            assertEquals(OwedTiers.BLOCK, owed.tiers.tierBegin(1));
            for (int segment = 1; segment < 2 * HELD; segment++) {
                owed.appendWhole(segment);
            }
            owed.tiers.fill(1, Long.MAX_VALUE);
            assertEquals(0, owed.tiers.tierBegin(1));
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            long before = owed.tiers.reads(1);
            assertEquals(IoStatus.OK, owed.read(0, SEGMENT));
            assertEquals(before + 1, owed.tiers.reads(1));
        }
    }

    /** The log's first record begins within a block; the rest of what is owed is copied by whole blocks. */
    @Test
    void aBeginningWithinABlockStopsNoCopy() {
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            OwedTiers.refuse(last, Fault.FAILED);
            owed.appendWhole(0);
            owed.tiers.truncate(64);
            OwedTiers.refuse(last, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(1) == 512 - 64);
            for (int segment = 1; segment < 2 * HELD; segment++) {
                owed.appendWhole(segment);
            }
            owed.assertHas(last, 512, SEGMENT - 512, 1);
        }
    }
}
