package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoStatus;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of a copy to a tier if the log changes after the copy has read its bytes and before it writes them. */
class OwedRaceTest {

    private static final int SEGMENT = OwedTiers.SEGMENT;

    private final MemoryDevice fast = OwedTiers.device(4);
    private final MemoryDevice last = OwedTiers.device();
    /** The copy has read, and is about to write. */
    private final CountDownLatch writes = new CountDownLatch(1);

    private final CountDownLatch mayWrite = new CountDownLatch(1);

    /** Whether the last tier refuses appends of others than the repair. */
    private volatile boolean refuses = true;

    /** The first part that the repair writes waits. */
    @BeforeEach
    void holdTheFirstCopy() {
        last.faults().inject((kind, address, length) -> {
            if (kind != Fault.Kind.APPEND) {
                return Fault.NONE;
            }
            if (!OwedTiers.onRepair()) {
                return refuses ? Fault.FAILED : Fault.NONE;
            }
            writes.countDown();
            OwedTiers.await(mayWrite);
            return Fault.NONE;
        });
    }

    /** The append is listed as pending at the last tier, and waits there for the copy. */
    @Test
    void aLaterAppendIsNotUndone() {
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            assertEquals(IoStatus.OK, owed.append(0, SEGMENT, 1));
            OwedTiers.await(writes);
            refuses = false;
            owed.memory.segment().fill((byte) 2);
            Calls calls = new Calls();
            assertTrue(owed.handle.append(0, owed.registered, 0, SEGMENT, calls, 0));
            owed.await(() -> !calls.all.isEmpty());
            assertEquals(1, calls.all.size(), "the last tier has not ended it");
            mayWrite.countDown();
            Calls.finish(owed.handle);
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            owed.assertHas(last, 0, SEGMENT, 2);
        } finally {
            mayWrite.countDown();
        }
    }

    /** An append whose handle could not open the last tier is listed nowhere at that tier, but owed. */
    @Test
    void aLaterDebtStays() {
        Device unopened = OwedTiers.opening(last, () -> {
            if (!OwedTiers.onRepair()) {
                throw new IllegalStateException("only the repair opens it");
            }
        });
        try (OwedTiers owed = new OwedTiers(List.of(fast, unopened))) {
            assertEquals(IoStatus.OK, owed.append(0, SEGMENT, 1));
            OwedTiers.await(writes);
            assertEquals(IoStatus.OK, owed.append(0, SEGMENT, 2));
            mayWrite.countDown();
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            owed.assertHas(last, 0, SEGMENT, 2);
        } finally {
            mayWrite.countDown();
        }
    }

    @Test
    void aTruncationForgetsNoMoreThanItDrops() {
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            assertEquals(IoStatus.OK, owed.append(0, SEGMENT, 1));
            OwedTiers.await(writes);
            owed.tiers.truncate(OwedTiers.BLOCK);
            mayWrite.countDown();
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
            owed.assertHas(last, OwedTiers.BLOCK, SEGMENT - OwedTiers.BLOCK, 1);
        } finally {
            mayWrite.countDown();
        }
    }
}
