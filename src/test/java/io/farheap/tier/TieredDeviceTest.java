package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.IoStatus;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Two and three tiers in memory, whose requests a test can hold, let go and fail. */
@Tag("optimised")
@Needs(Need.HOST)
@ParameterizedClass(name = "{0}")
@MethodSource("shapes")
class TieredDeviceTest extends DeviceContract {

    record Shape(int tiers, int commit) {}

    static Stream<Shape> shapes() {
        return Stream.of(new Shape(2, 0), new Shape(2, 1), new Shape(3, 0), new Shape(3, 1), new Shape(3, 2));
    }

    @Parameter
    private Shape shape;

    private MemoryDevice fast;
    private MemoryDevice middle;
    private MemoryDevice last;

    @Override
    Device create() {
        fast = new MemoryDevice(SEGMENT, 8, 32, 4L * SEGMENT);
        last = new MemoryDevice(SEGMENT, 4096, 32, Device.MAX_ADDRESS);
        middle = new MemoryDevice(SEGMENT, 512, 32, 6L * SEGMENT);
        return new TieredDevice(shape.tiers == 2 ? List.of(fast, last) : List.of(fast, middle, last), shape.commit, 32);
    }

    private TieredDevice tiered() {
        return (TieredDevice) device;
    }

    private void appendAll(int segments) {
        for (long address = 0; address < (long) segments * SEGMENT; address += SEGMENT) {
            append(address, SEGMENT);
        }
    }

    private void await(Calls of, int count) {
        while (of.all.size() < count) {
            assertTrue(handle.pending() > 0, of.all::toString);
            handle.poll();
        }
    }

    @Test
    void aReadGoesToTheFirstTierThatHasIt() {
        appendAll(7);
        assertEquals(3 * SEGMENT, tiered().tierBegin(0));
        assertReads(6 * SEGMENT, SEGMENT);
        assertEquals(1, tiered().reads(0));
        assertReads(2 * SEGMENT, SEGMENT);
        assertEquals(1, tiered().reads(1));
        assertReads(0, SEGMENT);
        assertEquals(shape.tiers == 2 ? 2 : 1, tiered().reads(1));
        assertEquals(1, tiered().reads(0));
        assertEquals(0, device.begin());
    }

    @Test
    void readsAreFinerThanTheSlowTiersBlocks() {
        appendAll(7);
        assertEquals(4096, device.alignment());
        assertEquals(8, device.readAlignment());
        for (long address : new long[] {6 * SEGMENT + 8, 2 * SEGMENT + 24, 4096 - 8, SEGMENT - 16}) {
            assertReads(address, 16);
        }
        assertReads(4096 - 64, 16 * 1024);
        assertReads(8, 16 * 1024);
        says(
                IllegalArgumentException.class,
                "multiples of the device's alignment, 4096",
                () -> handle.read(8, memory, 0, 16 * 1024 + 8, calls, 1));
    }

    @Test
    void theCommitPointEndsAnAppendAndTheLastReleasesIt() {
        last.faults().hold();
        fill(bytes, 0, SEGMENT, 0);
        assertTrue(handle.append(0, memory, 0, SEGMENT, calls, 1));
        for (int i = 0; i < 20; i++) {
            handle.poll();
        }
        boolean ends = shape.commit < shape.tiers - 1;
        assertEquals(ends ? 1 : 0, calls.all.size(), calls.all::toString);
        assertEquals(1, handle.pending());
        if (ends) {
            assertReads1(0);
        }
        last.faults().letGo();
        Calls.finish(handle);
        assertEquals(
                List.of(new Calls.Call("appended", 1, IoStatus.OK), new Calls.Call("released", 1, IoStatus.OK)),
                calls.all);
    }

    /** Asserts that a read ends with the right bytes although another request stays pending. */
    private void assertReads1(long address) {
        Calls read = new Calls();
        assertTrue(handle.read(address, memory, SEGMENT, 4096, read, 1));
        await(read, 1);
        assertEquals(IoStatus.OK, read.status(1));
        assertHas(bytes, SEGMENT, 4096, address);
    }

    @Test
    void noTierGivesUpWhatTheNextHasNotGot() {
        int next = shape.tiers - 1;
        if (shape.commit == next) {
            return;
        }
        last.faults().hold();
        int fits = shape.tiers == 2 ? 4 : 6;
        for (int i = 0; i < fits; i++) {
            fill(bytes, 0, SEGMENT, (long) i * SEGMENT);
            Calls call = new Calls();
            assertTrue(handle.append((long) i * SEGMENT, memory, 0, SEGMENT, call, i));
            await(call, 1);
            // The memory is not released, since the last tier has not written it yet.
            assertEquals(List.of(new Calls.Call("appended", i, IoStatus.OK)), call.all);
        }
        assertFalse(handle.append((long) fits * SEGMENT, memory, 0, SEGMENT, calls, 99));
        assertEquals(0, shape.tiers == 2 ? fast.begin() : 0);
        last.faults().letGo(1);
        while (!handle.append((long) fits * SEGMENT, memory, 0, SEGMENT, calls, 99)) {
            handle.poll();
        }
        last.faults().letGo();
        Calls.finish(handle);
    }

    @Test
    void aReadOfWhatASlowTierHasNotGotWaits() {
        if (shape.commit > 0) {
            return;
        }
        last.faults().hold();
        fast.faults().inject((kind, address, length) -> kind == Fault.Kind.READ ? Fault.LOST : Fault.NONE);
        fill(bytes, 0, SEGMENT, 0);
        assertTrue(handle.append(0, memory, 0, SEGMENT, calls, 1));
        await(calls, 1);
        Calls read = new Calls();
        assertTrue(handle.read(0, memory, SEGMENT, 4096, read, 1));
        if (shape.tiers == 2) {
            for (int i = 0; i < 50; i++) {
                handle.poll();
            }
            assertEquals(0, read.all.size());
        }
        last.faults().letGo();
        Calls.finish(handle);
        assertEquals(IoStatus.OK, read.status(1));
        assertHas(bytes, SEGMENT, 4096, 0);
        assertEquals(1, tiered().lost(0));
    }

    @Test
    void whatIsLostIsAskedForOnce() {
        appendAll(2);
        int[] asked = new int[1];
        fast.faults().inject((kind, address, length) -> {
            asked[0]++;
            return Fault.LOST;
        });
        assertReads(0, 64);
        assertReads(64, 64);
        assertReads(128, 4096 * 2);
        assertEquals(1, asked[0]);
        assertReads(SEGMENT, 64);
        assertEquals(2, asked[0]);
        assertEquals(2, tiered().lost(0));
    }

    @Test
    void anAppendThatATierRefusesIsInTheNext() {
        fast.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? Fault.FAILED : Fault.NONE);
        append(0, SEGMENT);
        fast.faults().inject(null);
        assertReads(0, 64);
        assertEquals(0, tiered().reads(0));
        append(SEGMENT, SEGMENT);
        assertReads(SEGMENT, 64);
        assertEquals(1, tiered().reads(0));
    }

    @Test
    void anAppendThatAllRefuseFails() {
        for (MemoryDevice tier : List.of(fast, middle, last)) {
            tier.faults().inject((kind, address, length) -> Fault.FAILED);
        }
        Calls failing = new Calls();
        assertTrue(handle.append(0, memory, 0, SEGMENT, failing, 1));
        Calls.finish(handle);
        assertEquals(IoStatus.FAILED, failing.status(1));
        assertEquals(2, failing.all.size());
        assertEquals(0, device.end());
    }

    /** The append fails although a faster tier has written it, and ends after that tier, which is the last to end. */
    @Test
    void anAppendThatTheCommitPointRefusesFails() {
        if (shape.commit < shape.tiers - 1) {
            return;
        }
        fast.faults().hold();
        last.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? Fault.FAILED : Fault.NONE);
        Calls failing = new Calls();
        assertTrue(handle.append(0, memory, 0, SEGMENT, failing, 1));
        for (int i = 0; i < 20; i++) {
            handle.poll();
        }
        assertEquals(0, failing.all.size(), failing.all::toString);
        fast.faults().letGo();
        Calls.finish(handle);
        assertEquals(IoStatus.FAILED, failing.status(1));
        assertEquals(0, device.end());
    }

    @Test
    void aTierIsAddedFilledAndTakesTheReads() {
        appendAll(5);
        MemoryDevice larger = new MemoryDevice(SEGMENT, 8, 32, 16L * SEGMENT);
        tiered().replace(0, larger);
        assertEquals(shape.tiers, tiered().tiers());
        assertReads(4 * SEGMENT, 64);
        assertEquals(0, tiered().reads(0));
        assertEquals(0, tiered().removedInUse());
        append(5 * SEGMENT, SEGMENT);
        assertReads(5 * SEGMENT, 64);
        assertEquals(1, tiered().reads(0));
        assertEquals(5L * SEGMENT, tiered().fill(0, 1L << 30));
        assertEquals(0, tiered().tierBegin(0));
        for (int i = 0; i < 6; i++) {
            assertReads((long) i * SEGMENT, SEGMENT);
        }
        assertEquals(7, tiered().reads(0));
    }

    /**
     * A fill waits for a pending append, which the last tier does not have yet. If it is interrupted there, it must not
     * copy the last tier's old bytes of this address.
     */
    @Test
    void anInterruptedFillCopiesNothingThatIsPending() throws Exception {
        if (shape.tiers > 2 || shape.commit > 0) {
            return;
        }
        append(4096, 4096);
        last.faults().hold();
        fill(bytes, 0, 4096, 0);
        Calls pending = new Calls();
        assertTrue(handle.append(0, memory, 0, 4096, pending, 1));
        await(pending, 1);
        tiered().replace(0, new MemoryDevice(SEGMENT, 8, 32, 16L * SEGMENT));
        Thread filling = new Thread(() -> tiered().fill(0, 1L << 30));
        filling.start();
        long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
        while (filling.getState() != Thread.State.TIMED_WAITING) {
            assertTrue(System.nanoTime() < deadline, () -> "the fill is " + filling.getState());
            Thread.sleep(1);
        }
        filling.interrupt();
        last.faults().letGo();
        filling.join();
        Calls.finish(handle);
        assertReads(0, 4096);
    }

    @Test
    void aSmallerTierIsFilledAsFarAsItHasRoom() {
        appendAll(5);
        tiered().replace(0, new MemoryDevice(SEGMENT, 8, 32, 2L * SEGMENT));
        assertEquals(2L * SEGMENT, tiered().fill(0, 1L << 30));
        assertEquals(3L * SEGMENT, tiered().tierBegin(0));
        for (int i = 0; i < 5; i++) {
            assertReads((long) i * SEGMENT, SEGMENT);
        }
        assertEquals(2, tiered().reads(0));
    }

    @Test
    void wrongTiersAreRefused() {
        Class<IllegalArgumentException> wrong = IllegalArgumentException.class;
        says(wrong, "0 tiers; there may be from 1 to 7", () -> new TieredDevice(List.of(), 0));
        says(wrong, "commit point 1 of 1 tiers", () -> new TieredDevice(List.of(fast), 1));
        says(
                wrong,
                "segments of 4096 bytes, another of " + SEGMENT,
                () -> new TieredDevice(List.of(fast, new MemoryDevice(4096, 8)), 0));
        appendAll(1);
        says(
                wrong,
                "the last must have all of it",
                () -> new TieredDevice(List.of(last, new MemoryDevice(SEGMENT, 8)), 0));
        says(IndexOutOfBoundsException.class, "the last tier has all of the log", () -> tiered().remove(
                        shape.tiers - 1));
        says(IndexOutOfBoundsException.class, "from 0 to " + (shape.tiers - 1), () -> tiered().add(
                        shape.tiers, new MemoryDevice(SEGMENT, 8)));
        says(wrong, "0 bytes a second", () -> tiered().fill(0, 0));
    }
}
