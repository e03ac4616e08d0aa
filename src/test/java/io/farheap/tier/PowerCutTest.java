package io.farheap.tier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.testing.Effort;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.FileOptions.Engine;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.device.StorageException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A log is appended to, synced and truncated until, at some moment, a power cut ends the process. Then the log is
 * opened again on a state that the power cut may leave: all synced bytes are at their addresses, and the log continues.
 */
@Needs(Need.HOST)
class PowerCutTest {

    private static final int SEGMENT = 16 * 1024;
    private static final int PART = 4096;
    private static final int CUTS = 400;
    private static final FileOptions OPTIONS = FileOptions.DEFAULT.with(Engine.POLLER);

    /** The outcomes that the writer has received, as addresses of the log. */
    private static final class Told {

        /**
         * The log is appended up to here and synced up to {@code synced}. It is truncated below {@code truncated} at
         * least, and below {@code asked} at most.
         */
        private long appended;

        private long synced;
        private long truncated;
        private long asked;
        private final MemorySegment bytes;

        Told(Arena arena) {
            this.bytes = arena.allocate(PART, PART);
        }
    }

    @Test
    void whatWasSyncedIsThereAfterAPowerCut() {
        long seed = System.nanoTime();
        for (int cut = 0; cut < Effort.count(CUTS); cut++) {
            Random random = new Random(seed + cut);
            try {
                cutOnce(random);
            } catch (Throwable e) {
                throw new AssertionError("seed " + (seed + cut), e);
            }
        }
    }

    /** Opens one log up to three times; a power cut ends each life, and the log is checked after it. */
    private static void cutOnce(Random random) {
        RecordingStorage storage = new RecordingStorage();
        try (Arena arena = Arena.ofShared()) {
            Told told = new Told(arena);
            int lives = 1 + random.nextInt(3);
            for (int life = 0; life < lives; life++) {
                storage.stopAfter(random.nextInt(120));
                live(storage, told, random);
                storage = storage.cut(random);
                check(storage, told);
            }
        }
    }

    private static void live(RecordingStorage storage, Told told, Random random) {
        try (FileDevice device = FileDevice.open(storage, SEGMENT, OPTIONS);
                DeviceMemory memory = device.register(told.bytes);
                DeviceHandle handle = device.open()) {
            while (step(device, memory, handle, told, random)) {}
        } catch (StorageException e) {
            if (!storage.isCut()) {
                throw e;
            }
        }
    }

    /** @return {@code false} if a request failed, because the power is cut */
    private static boolean step(FileDevice device, DeviceMemory memory, DeviceHandle handle, Told told, Random random) {
        Calls calls = new Calls();
        switch (random.nextInt(8)) {
            case 0 -> {
                assertTrue(handle.sync(calls, 1));
                Calls.finish(handle);
                if (calls.status(1) != IoStatus.OK) {
                    return false;
                }
                told.synced = told.appended;
            }
            case 1 -> {
                // Like a store, the test never truncates beyond what is durable.
                told.asked = Math.max(told.asked, told.truncated + random.nextInt(3) * SEGMENT);
                told.asked = Math.min(told.asked, told.synced);
                device.truncate(told.asked);
                told.truncated = told.asked;
            }
            default -> {
                DeviceContract.fill(told.bytes, 0, PART, told.appended);
                assertTrue(handle.append(told.appended, memory, 0, PART, calls, 1));
                Calls.finish(handle);
                if (calls.status(1) != IoStatus.OK) {
                    return false;
                }
                told.appended += PART;
            }
        }
        return true;
    }

    private static void check(RecordingStorage storage, Told told) {
        try (FileDevice device = FileDevice.open(storage, SEGMENT, OPTIONS);
                DeviceMemory memory = device.register(told.bytes);
                DeviceHandle handle = device.open()) {
            assertTrue(device.end() >= told.synced, () -> "ends at " + device.end() + ", synced " + told.synced);
            assertTrue(device.end() % PART == 0);
            assertTrue(device.begin() <= told.asked, () -> "begins at " + device.begin() + ", of " + told.asked);
            for (long address = told.asked; address < told.synced; address += PART) {
                Calls read = new Calls();
                told.bytes.fill((byte) 0);
                assertTrue(handle.read(address, memory, 0, PART, read, 1));
                Calls.finish(handle);
                assertEquals(IoStatus.OK, read.status(1), "at " + address);
                DeviceContract.assertHas(told.bytes, 0, PART, address);
            }
        }
        // Bytes after the last sync may be there or not. A log's user has to find its own end; this one appends again
        // from the last sync.
        told.appended = told.synced;
    }
}
