package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoStatus;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** A tier that cannot be used at this moment is no reason to take what it has for lost, nor to stop for good. */
class OwedTroubleTest {

    private static final int SEGMENT = OwedTiers.SEGMENT;

    private final MemoryDevice fast = OwedTiers.device(4);
    private final MemoryDevice last = OwedTiers.device();

    private static void faults(MemoryDevice of, Fault ofAppends, Fault ofReads) {
        of.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? ofAppends : ofReads);
    }

    @Test
    void whatCannotBeReadNowIsNotLost() {
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            faults(last, Fault.FAILED, Fault.NONE);
            faults(fast, Fault.NONE, Fault.FAILED);
            owed.appendWhole(0);
            assertEquals(IoStatus.FAILED, owed.read(0, OwedTiers.BLOCK));
            faults(fast, Fault.NONE, Fault.NONE);
            assertEquals(IoStatus.OK, owed.read(0, OwedTiers.BLOCK));
        }
    }

    @Test
    void whatOneTierCannotReadAndTheNextHasLostIsNotLost() {
        try (OwedTiers owed = new OwedTiers(List.of(fast, last))) {
            owed.appendWhole(0);
            faults(fast, Fault.NONE, Fault.FAILED);
            faults(last, Fault.NONE, Fault.LOST);
            assertEquals(IoStatus.FAILED, owed.read(0, OwedTiers.BLOCK));
            faults(fast, Fault.NONE, Fault.LOST);
            assertEquals(IoStatus.LOST, owed.read(0, OwedTiers.BLOCK));
        }
    }

    @Test
    void whatATierHasThatCannotBeOpenedIsNotLost() {
        AtomicBoolean refuses = new AtomicBoolean();
        Device unopened = OwedTiers.opening(fast, () -> {
            if (refuses.get()) {
                throw new IllegalStateException("it cannot be opened now");
            }
        });
        try (OwedTiers owed = new OwedTiers(List.of(unopened, last))) {
            faults(last, Fault.FAILED, Fault.NONE);
            owed.appendWhole(0);
            refuses.set(true);
            try (OwedTiers.Reader reader = owed.reader()) {
                assertEquals(IoStatus.FAILED, reader.read(0, OwedTiers.BLOCK));
                refuses.set(false);
                owed.await(() -> reader.read(0, SEGMENT) == IoStatus.OK);
            }
        }
    }

    /** The thread that copies continues after an error, too. */
    @Test
    void whatIsOwedIsCopiedAfterAnError() {
        AtomicBoolean refuses = new AtomicBoolean(true);
        CountDownLatch refused = new CountDownLatch(1);
        Device unopened = OwedTiers.opening(last, () -> {
            if (OwedTiers.onRepair() && refuses.get()) {
                refused.countDown();
                throw new OutOfMemoryError("of the test");
            }
        });
        try (OwedTiers owed = new OwedTiers(List.of(fast, unopened))) {
            faults(last, Fault.FAILED, Fault.NONE);
            owed.appendWhole(0);
            OwedTiers.await(refused);
            faults(last, Fault.NONE, Fault.NONE);
            refuses.set(false);
            owed.await(() -> owed.tiers.owedBytes(1) == 0);
        }
    }

    /** Far memory may be long in opening. */
    @Test
    void noHandleWaitsForAnotherThatIsBeingOpened() throws InterruptedException {
        CountDownLatch opens = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        Device slow = OwedTiers.opening(last, () -> {
            if (OwedTiers.onRepair()) {
                opens.countDown();
                while (mayOpen.getCount() > 0) {
                    LockSupport.parkNanos(100_000);
                }
            }
        });
        try (OwedTiers owed = new OwedTiers(List.of(fast, slow))) {
            faults(last, Fault.FAILED, Fault.NONE);
            owed.appendWhole(0);
            OwedTiers.await(opens);
            CountDownLatch opened = new CountDownLatch(1);
            Thread other = Thread.ofPlatform().start(() -> {
                owed.reader().close();
                opened.countDown();
            });
            try {
                OwedTiers.await(opened);
            } finally {
                mayOpen.countDown();
                other.join();
            }
        }
    }
}
