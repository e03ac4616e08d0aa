package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.farheap.posix.AsymmetricFence;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The promises of every {@link Device}; a subclass for each kind creates one. */
abstract class DeviceContract {

    static final int SEGMENT = 64 * 1024;
    /** Bytes of memory that are registered for each test. */
    static final int MEMORY = 256 * 1024;
    /** A device of these tests has room for at least this number of segments. */
    static final int SEGMENTS = 8;

    Device device;
    final Arena arena = Arena.ofShared();
    MemorySegment bytes;
    DeviceMemory memory;
    DeviceHandle handle;
    final Calls calls = new Calls();

    /** @return a device with segments of {@link #SEGMENT} bytes and room for at least {@link #SEGMENTS} of them */
    abstract Device create() throws Exception;

    /** Closes what {@link #create} created besides the device, and may check that nothing is left open. */
    void end() throws Exception {}

    @BeforeEach
    void begin() throws Exception {
        device = create();
        bytes = arena.allocate(MEMORY, 4096);
        memory = device.register(bytes);
        handle = device.open();
    }

    @AfterEach
    void close() throws Exception {
        try {
            handle.close();
            memory.close();
            device.close();
        } finally {
            end();
            arena.close();
        }
    }

    final int unit() {
        return Math.max(device.alignment(), 64);
    }

    /** @return the eight bytes that the tests append at this address; they differ at every address */
    static long word(long address) {
        return (address / 8 + 1) * 0x9e3779b97f4a7c15L;
    }

    static void fill(MemorySegment memory, long offset, long length, long address) {
        for (long i = 0; i < length; i += 8) {
            memory.set(ValueLayout.JAVA_LONG, offset + i, word(address + i));
        }
    }

    static void assertHas(MemorySegment memory, long offset, long length, long address) {
        for (long i = 0; i < length; i += 8) {
            if (memory.get(ValueLayout.JAVA_LONG, offset + i) != word(address + i)) {
                throw new AssertionError("wrong bytes at address " + (address + i));
            }
        }
    }

    void append(long address, int length) {
        fill(bytes, 0, length, address);
        int before = calls.all.size();
        assertTrue(handle.append(address, memory, 0, length, calls, address));
        Calls.finish(handle);
        assertEquals(
                List.of(
                        new Calls.Call("appended", address, IoStatus.OK),
                        new Calls.Call("released", address, IoStatus.OK)),
                calls.all.subList(before, calls.all.size()));
    }

    int read(long address, int length) {
        Calls read = new Calls();
        bytes.asSlice(MEMORY / 2, length).fill((byte) 0);
        assertTrue(handle.read(address, memory, MEMORY / 2, length, read, 1));
        Calls.finish(handle);
        return read.status(1);
    }

    void assertReads(long address, int length) {
        assertEquals(IoStatus.OK, read(address, length));
        assertHas(bytes, MEMORY / 2, length, address);
    }

    @Test
    void whatWasAppendedIsReadInPiecesOfAnyLength() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long end = (SEGMENTS - 1L) * SEGMENT;
        for (long address = 0; address < end; ) {
            long room = SEGMENT - address % SEGMENT;
            int length = (int) Math.min(room, unit() * (1L + random.nextInt(16)));
            append(address, length);
            address += length;
            assertEquals(address, device.end());
        }
        for (int i = 0; i < 200; i++) {
            long address = random.nextLong(end / unit()) * unit();
            int length = (int) Math.min(SEGMENT - address % SEGMENT, unit() * (1L + random.nextInt(8)));
            try {
                assertReads(address, length);
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertEquals(0, device.begin());
    }

    @Test
    void partsAreAppendedInAnyOrderAndManyAtATime() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        int part = Math.max(unit(), 4096);
        List<Long> addresses = new ArrayList<>();
        for (long address = 0; address < 2 * SEGMENT; address += part) {
            addresses.add(address);
        }
        java.util.Collections.shuffle(addresses, random);
        fill(bytes, 0, 2 * SEGMENT, 0);
        for (long address : addresses) {
            while (!handle.append(address, memory, address, part, calls, address)) {
                handle.poll();
            }
        }
        Calls.finish(handle);
        calls.assertAllOk();
        assertEquals(2 * addresses.size(), calls.all.size());
        Calls reads = new Calls();
        bytes.fill((byte) 0);
        for (long address : addresses) {
            while (!handle.read(address, memory, address, part, reads, address)) {
                handle.poll();
            }
        }
        Calls.finish(handle);
        reads.assertAllOk();
        assertEquals(addresses.size(), reads.all.size(), "seed " + seed);
        assertHas(bytes, 0, 2 * SEGMENT, 0);
    }

    @Test
    void theLastPartIsWrittenAgainLonger() {
        append(SEGMENT, unit());
        append(SEGMENT, 3 * unit());
        assertReads(SEGMENT, 3 * unit());
        assertEquals(SEGMENT + 3L * unit(), device.end());
    }

    @Test
    void whatOneHandleAppendedAnotherReads() throws Exception {
        append(0, SEGMENT);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread other = Thread.ofPlatform().start(() -> {
            try (DeviceHandle second = device.open()) {
                Calls read = new Calls();
                assertTrue(second.read(0, memory, SEGMENT, SEGMENT, read, 7));
                Calls.finish(second);
                assertEquals(IoStatus.OK, read.status(7));
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        other.join();
        assertEquals(null, failure.get());
        assertHas(bytes, SEGMENT, SEGMENT, 0);
    }

    @Test
    void whatIsBelowTheBeginningIsGoneAlsoForReadsUnderWay() {
        append(0, SEGMENT);
        append(SEGMENT, SEGMENT);
        Calls read = new Calls();
        assertTrue(handle.read(0, memory, 0, unit(), read, 1));
        device.truncate(SEGMENT);
        assertEquals(SEGMENT, device.begin());
        Calls.finish(handle);
        assertEquals(IoStatus.GONE, read.status(1));
        assertEquals(IoStatus.GONE, read(0, unit()));
        assertReads(SEGMENT, SEGMENT);
        device.truncate(0);
        assertEquals(SEGMENT, device.begin(), "it grows only");
        assertEquals(2 * SEGMENT, device.end());
    }

    @Test
    void whatIsBelowIsGoneWithinASegmentToo() {
        append(0, SEGMENT);
        device.truncate(SEGMENT / 2);
        assertEquals(SEGMENT / 2, device.begin());
        assertEquals(IoStatus.GONE, read(SEGMENT / 2 - unit(), unit()));
        assertReads(SEGMENT / 2, unit());
    }

    @Test
    void anAppendBelowTheBeginningIsGone() {
        append(0, SEGMENT);
        append(SEGMENT, SEGMENT);
        device.truncate(SEGMENT);
        Calls late = new Calls();
        assertTrue(handle.append(SEGMENT - unit(), memory, 0, unit(), late, 3));
        Calls.finish(handle);
        assertEquals(IoStatus.GONE, late.status(3));
        assertEquals(2, late.all.size());
        assertReads(SEGMENT, unit());
    }

    @Test
    void aSyncIsCalledBack() {
        append(0, SEGMENT);
        append(SEGMENT, unit());
        assertTrue(handle.sync(calls, 99));
        Calls.finish(handle);
        assertEquals(IoStatus.OK, calls.status(99));
        // A sync is called back, too, if nothing was appended since the last one.
        assertTrue(handle.sync(calls, 100));
        Calls.finish(handle);
        assertEquals(IoStatus.OK, calls.status(100));
    }

    @Test
    void aFullHandleRefusesAndNothingHasHappened() {
        append(0, unit());
        Calls reads = new Calls();
        int taken = 0;
        while (handle.read(0, memory, 0, unit(), reads, taken)) {
            taken++;
            assertTrue(taken < 1_000_000, "a handle has no bound");
        }
        assertEquals(taken, handle.pending());
        Calls refused = new Calls();
        assertFalse(handle.append(0, memory, 0, unit(), refused, 0));
        assertFalse(handle.sync(refused, 0));
        Calls.finish(handle);
        assertEquals(0, handle.pending());
        assertEquals(taken, reads.all.size());
        reads.assertAllOk();
        assertEquals(List.of(), refused.all);
        assertReads(0, unit());
    }

    @Test
    void callbacksMakeRequestsButDoNotPoll() {
        append(0, unit());
        Calls last = new Calls();
        AtomicReference<Throwable> refused = new AtomicReference<>();
        IoCompletion first = (token, status) -> {
            assertTrue(handle.read(0, memory, 0, unit(), last, 2));
            refused.set(assertThrows(IllegalStateException.class, handle::poll));
            assertThrows(IllegalStateException.class, handle::close);
            assertThrows(IllegalStateException.class, handle::awaitProgress);
            assertThrows(IllegalStateException.class, handle::release);
        };
        assertTrue(handle.read(0, memory, 0, unit(), first, 1));
        Calls.finish(handle);
        assertEquals(IoStatus.OK, last.status(2));
        assertTrue(refused.get().getMessage().contains("callback"));
    }

    @Test
    void whatACallbackThrowsComesOutOfThePollAndNothingElseIsAffected() {
        append(0, unit());
        Calls others = new Calls();
        IoCompletion throwing = (token, status) -> {
            throw new IllegalArgumentException("thrown on purpose");
        };
        assertTrue(handle.read(0, memory, 0, unit(), others, 1));
        assertTrue(handle.read(0, memory, 0, unit(), throwing, 2));
        assertTrue(handle.read(0, memory, 0, unit(), others, 3));
        assertTrue(handle.append(0, memory, 0, unit(), others, 4));
        assertEquals(
                "thrown on purpose",
                assertThrows(IllegalArgumentException.class, () -> Calls.finish(handle))
                        .getMessage());
        Calls.finish(handle);
        assertEquals(4, others.all.size());
        others.assertAllOk();
    }

    @Test
    void aHandleThatIsClosedWaitsForWhatIsPending() {
        append(0, SEGMENT);
        DeviceHandle closing = device.open();
        Calls pending = new Calls();
        assertTrue(closing.read(0, memory, 0, SEGMENT, pending, 1));
        fill(bytes, SEGMENT, SEGMENT, SEGMENT);
        assertTrue(closing.append(SEGMENT, memory, SEGMENT, SEGMENT, pending, 2));
        closing.close();
        assertEquals(3, pending.all.size());
        pending.assertAllOk();
        closing.close();
        assertThrows(IllegalStateException.class, closing::poll);
        assertThrows(IllegalStateException.class, () -> closing.read(0, memory, 0, unit(), pending, 3));
        assertReads(SEGMENT, SEGMENT);
    }

    @Test
    void memoryInUseIsNotClosed() {
        append(0, unit());
        DeviceMemory second = device.register(arena.allocate(MEMORY, 4096));
        assertTrue(handle.read(0, second, 0, unit(), calls, 1));
        assertTrue(assertThrows(IllegalStateException.class, second::close)
                .getMessage()
                .contains("poll its handle"));
        Calls.finish(handle);
        second.close();
        second.close();
        assertThrows(IllegalStateException.class, () -> handle.read(0, second, 0, unit(), calls, 2));
        assertEquals(0, handle.pending());
    }

    @Test
    void aDeviceWithOpenHandlesIsNotClosed() {
        String message =
                assertThrows(IllegalStateException.class, device::close).getMessage();
        assertEquals("the device has 1 handles and 1 pieces of memory open; close them before it", message);
        append(0, unit());
    }

    @Test
    void aHandleIsOneThreadsAtATime() throws Exception {
        append(0, unit());
        AtomicReference<Throwable> refused = new AtomicReference<>();
        Thread.ofPlatform()
                .start(() -> refused.set(assertThrows(IllegalStateException.class, handle::poll)))
                .join();
        assertTrue(refused.get().getMessage().contains("release()"));
        Thread keeps = new Thread(() -> {});
        handle.release();
        Thread.ofPlatform()
                .start(() -> {
                    assertReads(0, unit());
                    handle.release();
                })
                .join();
        keeps.start();
        keeps.join();
        assertReads(0, unit());
    }

    @Test
    void wrongArgumentsAreRefusedInOneSentence() {
        Class<IllegalArgumentException> wrong = IllegalArgumentException.class;
        Class<IndexOutOfBoundsException> outside = IndexOutOfBoundsException.class;
        int unit = unit();
        says(outside, "0 bytes at address 0", () -> handle.read(0, memory, 0, 0, calls, 0));
        says(outside, "at address -" + unit, () -> handle.read(-unit, memory, 0, unit, calls, 0));
        says(
                outside,
                "addresses go from 0 to " + Device.MAX_ADDRESS,
                () -> handle.append(Device.MAX_ADDRESS, memory, 0, unit, calls, 0));
        says(
                outside,
                unit + " bytes at offset " + MEMORY + " of memory that has " + MEMORY,
                () -> handle.read(0, memory, MEMORY, unit, calls, 0));
        says(outside, "at offset -" + unit, () -> handle.read(0, memory, -unit, unit, calls, 0));
        says(
                wrong,
                "beyond the end of a segment of " + SEGMENT + "; cut the request",
                () -> handle.append(SEGMENT - unit, memory, 0, 2L * unit, calls, 0));
        if (device.alignment() > 1) {
            says(wrong, "multiples of the device's alignment", () -> handle.read(1, memory, 0, unit, calls, 0));
            says(wrong, "multiples of the device's alignment", () -> handle.read(0, memory, 1, unit, calls, 0));
            says(wrong, "multiples of the device's alignment", () -> handle.read(0, memory, 0, unit + 1, calls, 0));
        }
        says(wrong, "another device", () -> handle.read(0, new Foreign(bytes), 0, unit, calls, 0));
        says(wrong, "off-heap and writable", () -> device.register(MemorySegment.ofArray(new byte[4096])));
        says(wrong, "off-heap and writable", () -> device.register(bytes.asReadOnly()));
        says(wrong, "multiples of 4096", () -> device.register(bytes.asSlice(8, 4096)));
        says(wrong, "multiples of 4096", () -> device.register(bytes.asSlice(0, 100)));
        assertThrows(NullPointerException.class, () -> handle.read(0, memory, 0, unit, null, 0));
        assertThrows(NullPointerException.class, () -> handle.append(0, memory, 0, unit, null, 0));
        assertThrows(NullPointerException.class, () -> handle.sync(null, 0));
        assertEquals(0, handle.pending());
        assertEquals(List.of(), calls.all);
    }

    private record Foreign(MemorySegment segment) implements DeviceMemory {
        @Override
        public void close() {}
    }

    static void says(
            Class<? extends Throwable> type, String part, org.junit.jupiter.api.function.Executable executable) {
        String message = String.valueOf(assertThrows(type, executable).getMessage());
        assertTrue(message.contains(part), message);
    }

    /** @return how many requests a round of {@link #requestsAllocateNothing} makes */
    int operations() {
        return 2_000;
    }

    @Test
    @Needs(Need.HOST)
    void requestsAllocateNothing() {
        Calls.Counter counter = new Calls.Counter();
        append(0, SEGMENT);
        append(SEGMENT, SEGMENT);
        for (int i = 0; i < 20_000; i++) {
            AsymmetricFence.heavy();
        }
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long[] others = workers();
        int silent = 0;
        long last = 0;
        for (int round = 0; round < 300 && silent < 5; round++) {
            long before = allocated(threads, others);
            run(counter);
            long allocated = allocated(threads, others) - before;
            silent = allocated == 0 ? silent + 1 : 0;
            last = allocated == 0 ? last : allocated;
        }
        assertEquals(5, silent, "rounds that allocated nothing; before, one allocated " + last + " bytes");
        assertEquals(0, counter.failed);
    }

    /** @return the ids of the threads that do the work of file devices */
    static long[] workers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("farheap-file"))
                .mapToLong(Thread::threadId)
                .toArray();
    }

    private static long allocated(ThreadMXBean threads, long[] others) {
        long bytes = threads.getCurrentThreadAllocatedBytes();
        for (long thread : others) {
            bytes += Math.max(0, threads.getThreadAllocatedBytes(thread));
        }
        return bytes;
    }

    private void run(Calls.Counter counter) {
        int unit = unit();
        for (int i = 0; i < operations(); i++) {
            long address = (long) (i * 31 % (2 * SEGMENT / unit)) * unit;
            boolean write = (i & 7) == 0;
            while (!(write
                    ? handle.append(address, memory, address, unit, counter, i)
                    : handle.read(address, memory, 2 * SEGMENT, unit, counter, i))) {
                if (handle.poll() == 0) {
                    handle.awaitProgress();
                }
            }
        }
        handle.sync(counter, 0);
        while (handle.pending() > 0) {
            if (handle.poll() == 0) {
                handle.awaitProgress();
            }
        }
    }
}
