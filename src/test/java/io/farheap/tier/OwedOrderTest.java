package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoStatus;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** What a tier owes ends with the bytes that were appended last, and with no older ones. */
class OwedOrderTest {

    private static final int BLOCK = OwedTiers.BLOCK;

    private final MemoryDevice fast = OwedTiers.device(4);
    private final MemoryDevice last = OwedTiers.device();

    /** A handle that cannot open the tier passes it by while another one's earlier append is on its way there. */
    @Test
    void anEarlierAppendRepaysNoLaterOne() {
        AtomicBoolean refuses = new AtomicBoolean();
        Device unopened = OwedTiers.opening(last, () -> {
            if (refuses.get() && !OwedTiers.onRepair()) {
                throw new IllegalStateException("only the repair opens it");
            }
        });
        try (OwedTiers owed = new OwedTiers(List.of(fast, unopened))) {
            refuses.set(true);
            try (DeviceHandle other = owed.tiers.open()) {
                last.faults().hold();
                owed.memory.segment().asSlice(0, BLOCK).fill((byte) 1);
                owed.memory.segment().asSlice(BLOCK, BLOCK).fill((byte) 2);
                Calls earlier = new Calls();
                assertTrue(owed.handle.append(0, owed.registered, 0, BLOCK, earlier, 0));
                owed.await(() -> !earlier.all.isEmpty());
                Calls later = new Calls();
                assertTrue(other.append(0, owed.registered, BLOCK, BLOCK, later, 0));
                Calls.finish(other);
                later.assertAllOk();
                assertEquals(1, earlier.all.size(), "the last tier has not ended it");
                assertEquals(BLOCK, owed.tiers.owedBytes(1));
                last.faults().letGo();
                Calls.finish(owed.handle);
                owed.await(() -> owed.tiers.owedBytes(1) == 0);
                owed.assertHas(last, 0, BLOCK, 2);
            }
        }
    }

    /** The copy was chosen before an append ended the debt. If it failed midway, it would leave a torn page. */
    @Test
    void whatAnAppendHasRepaidIsNotCopied() {
        CountDownLatch opens = new CountDownLatch(1);
        CountDownLatch mayOpen = new CountDownLatch(1);
        AtomicReference<Thread> repair = new AtomicReference<>();
        Device held = OwedTiers.opening(last, () -> {
            if (OwedTiers.onRepair()) {
                repair.set(Thread.currentThread());
                opens.countDown();
                OwedTiers.await(mayOpen);
            }
        });
        AtomicBoolean refuses = new AtomicBoolean(true);
        AtomicInteger copies = new AtomicInteger();
        last.faults().inject((kind, address, length) -> {
            if (kind != Fault.Kind.APPEND) {
                return Fault.NONE;
            }
            if (OwedTiers.onRepair()) {
                copies.incrementAndGet();
                return Fault.TORN;
            }
            return refuses.get() ? Fault.FAILED : Fault.NONE;
        });
        try (OwedTiers owed = new OwedTiers(List.of(fast, held))) {
            assertEquals(IoStatus.OK, owed.append(0, BLOCK, 1));
            OwedTiers.await(opens);
            refuses.set(false);
            assertEquals(IoStatus.OK, owed.append(0, BLOCK, 2));
            assertEquals(0, owed.tiers.owedBytes(1));
            mayOpen.countDown();
            owed.await(() -> !repair.get().isAlive());
            assertEquals(0, copies.get());
            owed.assertHas(last, 0, BLOCK, 2);
        } finally {
            mayOpen.countDown();
        }
    }
}
