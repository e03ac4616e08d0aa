package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("optimised")
@Needs(Need.HOST)
class MemoryDeviceTest extends BoundedDeviceContract {

    @Override
    Device create() {
        return new MemoryDevice(SEGMENT, 8, 32, SEGMENTS * (long) SEGMENT);
    }

    private MemoryFaults faults() {
        return ((MemoryDevice) device).faults();
    }

    @Test
    void aRequestEndsAfterSoManyPolls() {
        append(0, 64);
        faults().latency(3);
        assertTrue(handle.read(0, memory, 0, 64, calls, 1));
        assertEquals(List.of(0, 0, 0, 1), List.of(handle.poll(), handle.poll(), handle.poll(), handle.poll()));
    }

    @Test
    void requestsEndWhenTheTestSaysSo() {
        append(0, 64);
        faults().hold();
        Calls reads = new Calls();
        for (int i = 0; i < 3; i++) {
            assertTrue(handle.read(0, memory, 0, 64, reads, i));
        }
        handle.awaitProgress();
        assertEquals(0, handle.poll());
        faults().letGo(2);
        assertEquals(2, handle.poll());
        assertEquals(0, handle.poll());
        faults().letGo();
        assertEquals(1, handle.poll());
        assertEquals(
                List.of(0L, 1L, 2L), reads.all.stream().map(Calls.Call::token).toList());
    }

    @Test
    void requestsEndOutOfOrder() {
        append(0, 64);
        faults().shuffle(42);
        Calls reads = new Calls();
        for (int i = 0; i < 20; i++) {
            assertTrue(handle.read(0, memory, 0, 64, reads, i));
        }
        assertEquals(20, handle.poll());
        List<Long> order = reads.all.stream().map(Calls.Call::token).toList();
        assertNotEquals(LongStream.range(0, 20).boxed().toList(), order);
        assertEquals(
                LongStream.range(0, 20).boxed().toList(),
                order.stream().sorted().toList());
        assertThrows(IllegalArgumentException.class, () -> faults().shuffle(0));
        assertThrows(IllegalArgumentException.class, () -> faults().latency(-1));
    }

    @Test
    void requestsFail() {
        append(0, 64);
        faults().inject((kind, address, length) -> switch (kind) {
            case READ -> Fault.LOST;
            case APPEND -> Fault.FAILED;
            case SYNC -> Fault.FAILED;
        });
        assertEquals(IoStatus.LOST, read(0, 64));
        Calls failing = new Calls();
        assertTrue(handle.append(64, memory, 0, 64, failing, 1));
        assertTrue(handle.sync(failing, 2));
        Calls.finish(handle);
        assertEquals(IoStatus.FAILED, failing.status(1));
        assertEquals(IoStatus.FAILED, failing.status(2));
        assertEquals(64, device.end());
        faults().inject(null);
        assertReads(0, 64);
    }

    private int sectorsThere(Fault fault, int status) {
        bytes.fill((byte) 1);
        faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? fault : Fault.NONE);
        Calls append = new Calls();
        assertTrue(handle.append(SEGMENT, memory, 0, 8192, append, 1));
        Calls.finish(handle);
        assertEquals(status, append.status(1));
        assertEquals(IoStatus.OK, read(SEGMENT, 8192));
        int there = 0;
        for (int at = 0; at < 8192; at += 512) {
            byte first = bytes.get(ValueLayout.JAVA_BYTE, MEMORY / 2 + at);
            assertEquals(first, bytes.get(ValueLayout.JAVA_BYTE, MEMORY / 2 + at + 511));
            there += first;
        }
        return there;
    }

    @Test
    void aShortAppendIsThereInPart() {
        assertTrue(sectorsThere(Fault.SHORT, IoStatus.FAILED) < 16);
    }

    @Test
    void aTornAppendIsThereInPieces() {
        int there = sectorsThere(Fault.TORN, IoStatus.FAILED);
        assertTrue(there > 0 && there < 16, there + " of 16");
    }

    @Test
    void storageThatLiesSaysNothing() {
        assertTrue(sectorsThere(Fault.TORN_UNNOTICED, IoStatus.OK) < 16);
    }

    @Test
    void aBitFlips() {
        append(0, 64);
        faults().inject((kind, address, length) -> Fault.FLIPPED_UNNOTICED);
        assertEquals(IoStatus.OK, read(0, 64));
        assertThrows(AssertionError.class, () -> assertHas(bytes, MEMORY / 2, 64, 0));
    }

    @Test
    void aHandleThatIsClosedIsNotHeld() {
        append(0, 64);
        faults().hold();
        DeviceHandle closing = device.open();
        Calls pending = new Calls();
        assertTrue(closing.read(0, memory, 0, 64, pending, 1));
        closing.close();
        assertEquals(IoStatus.OK, pending.status(1));
    }

    /** The other pending requests are called back nevertheless, and the handle does not keep its device open. */
    @Test
    void aHandleIsClosedThoughACallbackThrows() {
        append(0, 64);
        DeviceHandle closing = device.open();
        Calls pending = new Calls();
        IoCompletion throwing = (token, status) -> {
            throw new AssertionError("of the test");
        };
        assertTrue(closing.read(0, memory, 0, 64, throwing, 1));
        assertTrue(closing.read(0, memory, 0, 64, pending, 2));
        assertThrows(AssertionError.class, closing::close);
        assertEquals(IoStatus.OK, pending.status(2));
        closing.close();
    }

    @Test
    void wrongShapesAreRefused() {
        Class<IllegalArgumentException> wrong = IllegalArgumentException.class;
        says(wrong, "segments of 5000 bytes", () -> new MemoryDevice(5000, 8));
        says(wrong, "an alignment of 3 bytes", () -> new MemoryDevice(SEGMENT, 3));
        says(wrong, "a capacity of 1 bytes", () -> new MemoryDevice(SEGMENT, 8, 1, 1));
        says(wrong, "0 requests at a time", () -> {
            try (MemoryDevice none = new MemoryDevice(SEGMENT, 8, 0, SEGMENT)) {
                none.open();
            }
        });
    }
}
