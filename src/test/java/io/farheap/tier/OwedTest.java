package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.SharedMemory;
import io.farheap.testing.TestDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a tier behind the commit point refuses is copied to it from the tier that has it, before that gives it up. */
class OwedTest {

    private static final int SEGMENT = 1 << 16;
    /** Segments that the fast tier holds. */
    private static final int HELD = 4;

    private final MemoryDevice fast = new MemoryDevice(SEGMENT, 512, 32, HELD * (long) SEGMENT);
    private final MemoryDevice last = new MemoryDevice(SEGMENT, 512);
    private final SharedMemory memory = SharedMemory.allocate("farheap-test-owed", SEGMENT);
    private final TieredDevice tiers = new TieredDevice(List.of(fast, last), 0);
    private final DeviceMemory registered = tiers.register(memory.segment());
    private final DeviceHandle handle = tiers.open();

    @AfterEach
    void close() {
        handle.close();
        registered.close();
        tiers.close();
        memory.close();
    }

    private void refuse(Fault fault) {
        last.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? fault : Fault.NONE);
    }

    private int append(int segment) {
        memory.segment().fill((byte) (segment + 1));
        return new BlockingDeviceHandle(handle).append((long) segment * SEGMENT, registered, 0, SEGMENT);
    }

    private void assertHas(int segment) {
        int status = new BlockingDeviceHandle(handle).read((long) segment * SEGMENT, registered, 0, SEGMENT);
        assertEquals(IoStatus.OK, status, "segment " + segment);
        for (int at = 0; at < SEGMENT; at += 512) {
            assertEquals((byte) (segment + 1), memory.segment().get(ValueLayout.JAVA_BYTE, at), "segment " + segment);
        }
    }

    private void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it has not come");
            handle.poll();
            Thread.onSpinWait();
        }
    }

    @Test
    void whatWasRefusedIsCopied() {
        assertEquals(IoStatus.OK, append(0));
        refuse(Fault.FAILED);
        for (int segment = 1; segment < 3; segment++) {
            assertEquals(IoStatus.OK, append(segment));
        }
        assertEquals(2 * SEGMENT, tiers.owedBytes(1));
        assertHas(1);
        refuse(Fault.NONE);
        await(() -> tiers.owedBytes(1) == 0);
        for (int segment = 3; segment < 2 * HELD; segment++) {
            assertEquals(IoStatus.OK, append(segment));
        }
        assertEquals(HELD * (long) SEGMENT, tiers.tierBegin(0));
        for (int segment = 0; segment < 2 * HELD; segment++) {
            assertHas(segment);
        }
    }

    /** The fast tier has the only copy, so it takes no append that would overwrite that before the last tier has it. */
    @Test
    void theOnlyCopyIsNotGivenUp() {
        refuse(Fault.FAILED);
        for (int segment = 0; segment < HELD; segment++) {
            assertEquals(IoStatus.OK, append(segment));
        }
        memory.segment().fill((byte) (HELD + 1));
        Calls calls = new Calls();
        assertFalse(handle.append(HELD * (long) SEGMENT, registered, 0, SEGMENT, calls, 0));
        assertEquals(0, tiers.tierBegin(0));
        refuse(Fault.NONE);
        await(() -> handle.append(HELD * (long) SEGMENT, registered, 0, SEGMENT, calls, 0));
        Calls.finish(handle);
        calls.assertAllOk();
        for (int segment = 0; segment <= HELD; segment++) {
            assertHas(segment);
        }
    }

    /** What is left of a fill that failed for a moment is copied later, and the tier then answers its reads. */
    @Test
    void aFillThatFailedForAMomentIsCompleted() {
        for (int segment = 0; segment < 2; segment++) {
            assertEquals(IoStatus.OK, append(segment));
        }
        MemoryDevice added = new MemoryDevice(SEGMENT, 512, 32, Device.MAX_ADDRESS / SEGMENT * SEGMENT);
        added.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? Fault.FAILED : Fault.NONE);
        tiers.replace(0, added);
        tiers.fill(0, Long.MAX_VALUE);
        assertEquals(2 * SEGMENT, tiers.owedBytes(0));
        added.faults().inject(null);
        await(() -> tiers.owedBytes(0) == 0);
        long before = tiers.reads(0);
        assertHas(0);
        assertHas(1);
        assertEquals(before + 2, tiers.reads(0));
    }
}
