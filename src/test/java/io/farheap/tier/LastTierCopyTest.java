package io.farheap.tier;

import static io.farheap.tier.DeviceContract.says;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.SharedMemory;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.device.StorageException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A last tier that lacks parts of the log after a crash, or that is new, is completed from the tiers before it. */
class LastTierCopyTest {

    private static final int SEGMENT = 1 << 20;
    private static final int PIECE = 1 << 16;
    private static final int PIECES = 50;
    private static final FileOptions OPTIONS = FileOptions.DEFAULT.with(FileOptions.Engine.POLLER);

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

    /** Appends the pieces of a range, but for some. */
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
        // The last tier lacks the newest pieces and some before them, since no append waited for it.
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
        // The same is found after a restart.
        try (FileDevice last = open("last")) {
            assertEquals(2L * SEGMENT, last.begin());
            assertHas(last, 2 * SEGMENT / PIECE);
        }
    }

    /** A last tier that ends after the other tiers may nevertheless lack a piece before their end. */
    @Test
    void oneThatGoesFurtherThanTheOthersIsCompletedToo() {
        fill();
        try (FileDevice middle = open("middle");
                FileDevice last = open("last")) {
            append(middle, 0, 30);
            append(last, 0, PIECES, 7);
            assertTrue(TieredDevice.complete(List.of(middle, last)) >= PIECE);
            assertEquals(0, TieredDevice.complete(List.of(middle, last)));
            assertEquals(0, TieredDevice.complete(List.of(last)));
            assertHas(last, 0);
        }
    }

    /**
     * The last tier keeps pieces that the other tier lacks: one in the middle of a segment, and the last one of a
     * segment, whose file is then too short to be read there. The latter occurs if the power is cut after a later
     * segment was begun.
     */
    @Test
    void whatTheOtherLacksInItsMiddleStays() {
        fill();
        int endOfSegment = SEGMENT / PIECE - 1;
        try (FileDevice middle = open("middle");
                FileDevice last = open("last")) {
            append(middle, 0, PIECES, 5, endOfSegment);
            append(last, 0, 20, 9);
            assertTrue(TieredDevice.complete(List.of(middle, last)) > 0);
            assertHas(last, 0);
            assertEquals(0, TieredDevice.complete(List.of(middle, last)));
        }
    }

    /** Zeros at the end of a log are a part of it, also if the last tier has memory at this address already. */
    @Test
    void zerosInTheEndAreCopied() {
        fill();
        Arrays.fill(written[PIECES - 1], (byte) 0);
        try (FileDevice middle = open("middle");
                MemoryDevice last = new MemoryDevice(SEGMENT, 512)) {
            append(middle, 0, PIECES);
            append(last, 0, PIECES - 1);
            TieredDevice.complete(List.of(middle, last));
            assertEquals(middle.end(), last.end());
            assertHas(last, 0);
        }
    }

    /** If tiers differ at an address, the bytes of the first one count, also against those of the last tier. */
    @Test
    void theFirstThatHasAPlaceSaysWhatIsThere() {
        fill();
        try (FileDevice first = open("first");
                FileDevice second = open("second");
                FileDevice last = open("last")) {
            append(first, 0, 30);
            byte[] right = written[20];
            written[20] = new byte[PIECE];
            Arrays.fill(written[20], (byte) 1);
            append(second, 0, PIECES);
            append(last, 0, 25);
            written[20] = right;
            TieredDevice.complete(List.of(first, second, last));
            assertHas(last, 0);
        }
    }

    /** The completed tier is durable, including the pieces that it had before without a sync. */
    @Test
    void afterwardsAPowerCutTakesNothing() {
        fill();
        for (int round = 0; round < 10; round++) {
            RecordingStorage storage = new RecordingStorage();
            try (FileDevice middle = open("middle" + round);
                    FileDevice last = FileDevice.open(storage, SEGMENT, OPTIONS)) {
                append(middle, 0, PIECES);
                append(last, 0, 40);
            }
            try (FileDevice middle = open("middle" + round);
                    FileDevice last = FileDevice.open(storage, SEGMENT, OPTIONS)) {
                TieredDevice.complete(List.of(middle, last));
            }
            try (FileDevice last = FileDevice.open(storage.cut(random), SEGMENT, OPTIONS)) {
                assertHas(last, 0);
            }
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
                    "begin with an empty last tier",
                    () -> TieredDevice.complete(List.of(middle, last)));
        }
    }

    /** The last tier keeps its bytes for a part that the other tier cannot read, and a repeated call copies it. */
    @Test
    void whatCannotBeReadIsCopiedAnotherTime() {
        fill();
        try (MemoryDevice middle = new MemoryDevice(SEGMENT, 512);
                FileDevice last = open("last")) {
            append(middle, 0, PIECES);
            middle.faults()
                    .inject((kind, address, length) ->
                            kind == Fault.Kind.READ && address / SEGMENT == 1 ? Fault.FAILED : Fault.NONE);
            assertEquals(PIECES * PIECE, TieredDevice.complete(List.of(middle, last)));
            middle.faults().inject(null);
            assertEquals(SEGMENT, TieredDevice.complete(List.of(middle, last)));
            assertHas(last, 0);
        }
    }

    /**
     * The last tier keeps its bytes if it cannot read them at this moment and no other tier has them, also bytes that
     * begin within a block of the other tier; nothing is written over them, and a repeated call completes the log.
     */
    @Test
    void nothingIsWrittenOverWhatTheLastCannotReadNow() {
        fill();
        try (FileDevice middle = open("middle");
                MemoryDevice last = new MemoryDevice(SEGMENT, 512)) {
            append(middle, 0, PIECES, 7);
            append(last, 0, 20, 9);
            long inPiece = 7L * PIECE + 512;
            last.faults()
                    .inject((kind, address, length) ->
                            kind == Fault.Kind.READ && address <= inPiece && address + length > inPiece
                                    ? Fault.FAILED
                                    : Fault.NONE);
            says(
                    StorageException.class,
                    "the log at " + inPiece + " could not be read in the last tier",
                    () -> TieredDevice.complete(List.of(middle, last)));
            last.faults().inject(null);
            assertTrue(TieredDevice.complete(List.of(middle, last)) > 0);
            assertHas(last, 0);
        }
    }

    /** A segment's end to which no tier has an append is no trouble, although a read of it fails. */
    @Test
    void whatWasNeverAppendedIsNoTrouble() {
        fill();
        int endOfSegment = SEGMENT / PIECE - 1;
        Arrays.fill(written[endOfSegment], (byte) 0);
        try (FileDevice middle = open("middle");
                FileDevice last = open("last")) {
            append(middle, 0, PIECES, endOfSegment);
            append(last, 0, 20, 9, endOfSegment);
            assertTrue(TieredDevice.complete(List.of(middle, last)) > 0);
            assertHas(last, 0);
        }
    }

    @Test
    void aLastTierThatFailsIsTold() {
        fill();
        try (FileDevice middle = open("middle");
                MemoryDevice last = new MemoryDevice(SEGMENT, 512)) {
            append(middle, 0, PIECES);
            last.faults().inject((kind, address, length) -> kind == Fault.Kind.APPEND ? Fault.FAILED : Fault.NONE);
            says(
                    StorageException.class,
                    "could not be written to the last tier",
                    () -> TieredDevice.complete(List.of(middle, last)));
        }
    }
}
