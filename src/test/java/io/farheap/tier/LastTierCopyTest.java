package io.farheap.tier;

import static io.farheap.tier.DeviceContract.says;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.SharedMemory;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A last tier that a crash has left behind, or that is new, is completed from the one before it. */
class LastTierCopyTest {

    private static final int SEGMENT = 1 << 20;
    private static final int PIECE = 1 << 16;
    private static final int PIECES = 50;

    @TempDir
    private Path directory;

    private final Random random = new Random(7);
    private final SharedMemory memory = SharedMemory.allocate("farheap-test-last-tier", PIECE);
    private final byte[][] written = new byte[PIECES][PIECE];

    @AfterEach
    void free() {
        memory.close();
    }

    private FileDevice open(String name) {
        return FileDevice.open(directory.resolve(name), SEGMENT);
    }

    /** Appends pieces, some of which the device is not to get. */
    private void append(Device device, int from, int to, int... without) {
        try (DeviceMemory registered = device.register(memory.segment());
                DeviceHandle handle = device.open()) {
            for (int i = from; i < to; i++) {
                int piece = i;
                if (Arrays.stream(without).noneMatch(left -> left == piece)) {
                    Calls calls = new Calls();
                    memory.segment().asByteBuffer().put(written[i]);
                    assertTrue(handle.append((long) i * PIECE, registered, 0, PIECE, calls, i));
                    Calls.finish(handle);
                    calls.assertAllOk();
                }
            }
        }
    }

    private void assertHas(Device device, int from) {
        try (DeviceMemory registered = device.register(memory.segment());
                DeviceHandle handle = device.open()) {
            for (int i = from; i < PIECES; i++) {
                Calls calls = new Calls();
                assertTrue(handle.read((long) i * PIECE, registered, 0, PIECE, calls, i));
                Calls.finish(handle);
                calls.assertAllOk();
                byte[] there = new byte[PIECE];
                memory.segment().asByteBuffer().get(there);
                assertEquals(-1, Arrays.mismatch(written[i], there), "piece " + i);
            }
        }
    }

    private void fill() {
        for (byte[] piece : written) {
            random.nextBytes(piece);
        }
    }

    @Test
    void whatACrashHasLeftOutIsCopied() {
        fill();
        // The last had not got its newest pieces, nor some before: neither was waited for.
        try (FileDevice middle = open("middle");
                FileDevice last = open("last")) {
            append(middle, 0, PIECES);
            append(last, 0, 40, 7, 8, 39);
            append(last, 41, 42);
        }
        try (FileDevice middle = open("middle");
                FileDevice last = open("last");
                MemoryDevice fast = new MemoryDevice(SEGMENT, 8)) {
            List<Device> devices = List.of(fast, middle, last);
            says(IllegalArgumentException.class, "TieredDevice.complete copies", () -> new TieredDevice(devices, 1));
            assertTrue(TieredDevice.complete(devices) >= 11L * PIECE);
            assertEquals(0, TieredDevice.complete(devices));
            assertEquals(middle.end(), last.end());
            assertHas(last, 0);
        }
        try (TieredDevice tiers =
                new TieredDevice(List.of(new MemoryDevice(SEGMENT, 8), open("middle"), open("last")), 1)) {
            assertEquals((long) PIECES * PIECE, tiers.end());
            assertHas(tiers, 0);
        }
    }

    @Test
    void aNewLastTierGetsAllThatThereIs() {
        fill();
        try (FileDevice middle = open("middle");
                FileDevice last = open("last")) {
            append(middle, 0, PIECES);
            middle.truncate(2L * SEGMENT);
            assertEquals(PIECES * PIECE - 2L * SEGMENT, TieredDevice.complete(List.of(middle, last)));
            assertEquals(2L * SEGMENT, last.begin());
            assertHas(last, 2 * SEGMENT / PIECE);
        }
        // As it is found after a restart, too.
        try (FileDevice last = open("last")) {
            assertEquals(2L * SEGMENT, last.begin());
            assertHas(last, 2 * SEGMENT / PIECE);
        }
    }

    @Test
    void oneThatHasMoreThanTheOthersStaysAsItIs() {
        fill();
        try (FileDevice middle = open("middle");
                FileDevice last = open("last")) {
            append(middle, 0, 3);
            append(last, 0, PIECES);
            assertEquals(0, TieredDevice.complete(List.of(middle, last)));
            assertEquals(0, TieredDevice.complete(List.of(last)));
            assertHas(last, 0);
        }
    }

    @Test
    void whatNoneHasIsTold() {
        fill();
        try (FileDevice middle = open("middle");
                FileDevice last = open("last")) {
            append(middle, 0, PIECES);
            append(last, 0, 3);
            middle.truncate(2L * SEGMENT);
            says(
                    IllegalArgumentException.class,
                    "nothing has what is between",
                    () -> TieredDevice.complete(List.of(middle, last)));
        }
    }

    @Test
    void aSourceThatFailsIsTold() {
        fill();
        try (MemoryDevice middle = new MemoryDevice(SEGMENT, 512);
                FileDevice last = open("last")) {
            append(middle, 0, PIECES);
            middle.faults().inject((kind, address, length) -> address == SEGMENT ? Fault.FAILED : Fault.NONE);
            String message = assertThrows(StorageException.class, () -> TieredDevice.complete(List.of(middle, last)))
                    .getMessage();
            assertTrue(message.contains("the log at " + SEGMENT + " could not be read"), message);
            middle.faults().inject(null);
            assertTrue(TieredDevice.complete(List.of(middle, last)) > 0);
            assertHas(last, 0);
        }
    }
}
