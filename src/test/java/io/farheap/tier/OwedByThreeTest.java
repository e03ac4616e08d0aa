package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What becomes of three tiers if one of them owes something. */
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

    /** Neither as the tier that owes something, nor as the one that has it. */
    @ParameterizedTest(name = "tier {0}")
    @ValueSource(ints = {0, 1})
    void aTierThatCannotBeOpenedStopsNoOther(int shut) {
        AtomicBoolean refuses = new AtomicBoolean(true);
        Device unopened = OwedTiers.opening(shut == 0 ? fast : middle, () -> {
            if (OwedTiers.onRepair() && refuses.get()) {
                throw new IllegalStateException("it cannot be opened now");
            }
        });
        List<Device> all = new ArrayList<>(List.of(fast, middle, last));
        all.set(shut, unopened);
        OwedTiers.refuse(middle, shut == 1 ? Fault.FAILED : Fault.NONE);
        OwedTiers.refuse(last, Fault.FAILED);
        try (OwedTiers owed = new OwedTiers(all)) {
            owed.appendWhole(0);
            OwedTiers.refuse(last, Fault.NONE);
            owed.await(() -> owed.tiers.owedBytes(2) == 0);
            owed.assertHas(last, 0, SEGMENT, 1);
            OwedTiers.refuse(middle, Fault.NONE);
            refuses.set(false);
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            owed.assertHas(middle, 0, SEGMENT, 1);
        }
    }

    /** The last tier has it, and a copy that takes long is no append that the middle tier has yet to end. */
    @Test
    void theLogGoesOnDuringACopy() {
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch mayWrite = new CountDownLatch(1);
        AtomicBoolean refuses = new AtomicBoolean(true);
        middle.faults().inject((kind, address, length) -> {
            if (kind != Fault.Kind.APPEND) {
                return Fault.NONE;
            }
            if (!OwedTiers.onRepair()) {
                return refuses.get() ? Fault.FAILED : Fault.NONE;
            }
            writes.countDown();
            while (mayWrite.getCount() > 0) {
                LockSupport.parkNanos(100_000);
            }
            return Fault.NONE;
        });
        try (OwedTiers owed = new OwedTiers(List.of(fast, middle, last))) {
            try {
                owed.appendWhole(0);
                OwedTiers.await(writes);
                refuses.set(false);
                for (int segment = 1; segment < 2 * HELD; segment++) {
                    owed.appendWhole(segment);
                }
                assertEquals((long) HELD * SEGMENT, owed.tiers.tierBegin(0));
            } finally {
                mayWrite.countDown();
            }
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            owed.assertHas(middle, 0, SEGMENT, 1);
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
