package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.StorageFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.testing.Effort;
import io.farheap.tier.FileDevice;
import io.farheap.tier.MemoryDevice;
import io.farheap.tier.TieredDevice;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.device.StorageException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Power cuts while a store is used that has its log and its checkpoints in one storage: no operation is lost that a
 * checkpoint has acknowledged, the store has a prefix of each session's operations, and no record is torn.
 * {@code -Dfarheap.powerCuts=N} makes N cuts. A seed repeats a life, except for the course of a checkpoint that is made
 * during the load.
 */
class StorePowerCutTest {

    private static final int SESSIONS = 2;
    private static final int SEGMENT = 1 << 14;
    private static final int BLOCK = 4096;
    private static final int LIES = Effort.either(15, 40);

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final int cuts = Effort.asked("farheap.powerCuts", 6, 100);

    private int acknowledged;

    /**
     * How a store is used, in addition to the parameters of a case.
     *
     * @param pageBytes one block of the device, or two
     * @param commit the commit point of two tiers, memory and the file; negative if the file is the only device
     * @param beside whether sessions continue while a checkpoint is made
     */
    private record Use(boolean general, int pageBytes, int commit, boolean beside, double mutableShare) {

        private static final Use PLAIN = new Use(false, BLOCK, -1, false, 0.9);

        private Use(Random random) {
            this(
                    random.nextBoolean(),
                    BLOCK << random.nextInt(2),
                    random.nextInt(3) - 1,
                    random.nextBoolean(),
                    random.nextInt(3) * 0.45);
        }
    }

    @ParameterizedTest
    @CsvSource({"FOLD_OVER, false", "FOLD_OVER, true", "SNAPSHOT, false", "SNAPSHOT, true", "INCREMENTAL, true"})
    void whatACheckpointHasIsThereAfterAPowerCut(CheckpointKind kind, boolean index) {
        for (int cut = 0; cut < cuts; ) {
            Random random = new Random(seed + cut);
            try {
                cut += lives(random, kind, index);
            } catch (Throwable e) {
                throw new AssertionError("seed " + (seed + cut), e);
            }
        }
        assertTrue(acknowledged > 0, "no checkpoint was made");
    }

    /** Proves that the test above can fail: if the device's syncs do nothing, durable operations are lost. */
    @Test
    void aDeviceThatDropsSyncsLosesWhatItPromisedAndThatIsFound() {
        int lost = 0;
        for (int cut = 0; cut < LIES; cut++) {
            Random random = new Random(seed + cut);
            RecordingStorage storage = new RecordingStorage();
            storage.dropSyncs(name -> name.startsWith("segment"));
            storage.stopAfter(100 + random.nextInt(150));
            long[] durable = new long[SESSIONS];
            live(storage, Use.PLAIN, durable, random, CheckpointKind.FOLD_OVER, false);
            lost += keeps(storage.cut(random), durable) ? 0 : 1;
        }
        assertTrue(lost > 0, "nothing was lost in " + LIES + " cuts, seed " + seed);
    }

    /** @return whether the store has all durable operations; those that it reports must be right in any case */
    private static boolean keeps(RecordingStorage storage, long[] durable) {
        try (Device device = device(storage, Use.PLAIN);
                FarStore store = how(storage, device, Use.PLAIN).open()) {
            long[] there = new PrefixLoad(false, SESSIONS).verify(store);
            return there[0] >= durable[0] && there[1] >= durable[1];
        } catch (StoreException | StorageException e) {
            return false;
        }
    }

    /** @return how many cuts there were */
    private int lives(Random random, CheckpointKind kind, boolean index) {
        Use use = new Use(random);
        RecordingStorage storage = new RecordingStorage();
        long[] durable = new long[SESSIONS];
        int lives = 1 + random.nextInt(4);
        for (int life = 0; life < lives; life++) {
            storage.stopAfter(random.nextInt(250));
            live(storage, use, durable, random, kind, index);
            storage = storage.cut(random);
            // The writes of the first recovery must not harm the second.
            for (int recovery = 0; recovery < 2; recovery++) {
                durable = recovered(storage, use, durable);
            }
        }
        return lives;
    }

    /** @return how many operations of each session the store has, which are at least the durable ones */
    private static long[] recovered(RecordingStorage storage, Use use, long[] durable) {
        try (Device device = device(storage, use);
                FarStore store = how(storage, device, use).open()) {
            long[] there = new PrefixLoad(use.general, SESSIONS).verify(store);
            for (int i = 0; i < there.length; i++) {
                assertTrue(there[i] >= durable[i], Arrays.toString(there) + " of " + Arrays.toString(durable));
            }
            return there;
        }
    }

    private static Device device(RecordingStorage storage, Use use) {
        FileDevice file = FileDevice.open(storage, SEGMENT, FileOptions.DEFAULT.with(FileOptions.Engine.POLLER));
        // The memory tier has at least as many bytes as the store's memory.
        return use.commit < 0
                ? file
                : new TieredDevice(List.of(new MemoryDevice(SEGMENT, 512, 32, 4 * SEGMENT), file), use.commit);
    }

    private static FarStoreBuilder how(RecordingStorage storage, Device device, Use use) {
        FarStoreBuilder how = FarStore.builder()
                .device(device)
                .files(new StorageFiles(storage))
                .pageBytes(use.pageBytes)
                .memory(8L * use.pageBytes)
                .mutableShare(use.mutableShare)
                .expectedKeys(64)
                .patience(Duration.ofMinutes(1))
                .writePatience(Duration.ZERO)
                .pending(16);
        return use.general ? how.records(8, 24) : how;
    }

    /** Uses a store until the power is cut. */
    private void live(
            RecordingStorage storage, Use use, long[] durable, Random random, CheckpointKind kind, boolean index) {
        PrefixLoad load = new PrefixLoad(use.general, SESSIONS);
        try (Device device = device(storage, use);
                FarStore store = how(storage, device, use)
                        .checkpoints(kind)
                        .indexInCheckpoints(index)
                        .open();
                StoreSession first = store.openSession(PrefixLoad.name(0));
                StoreSession second = store.openSession(PrefixLoad.name(1));
                Arena arena = Arena.ofConfined()) {
            StoreSession[] sessions = {first, second};
            MemorySegment memory = arena.allocate(PrefixLoad.room());
            while (!storage.isCut()) {
                int operations = random.nextInt(600);
                for (int i = 0; i < operations && !storage.isCut(); i++) {
                    int number = random.nextInt(SESSIONS);
                    load.next(sessions[number], number, memory);
                }
                first.drain();
                second.drain();
                if (random.nextInt(4) == 0) {
                    store.compact(store.logBytes() / 2);
                }
                if (use.beside) {
                    checkpointBeside(store, () -> {
                        if (!storage.isCut()) {
                            int number = random.nextInt(SESSIONS);
                            load.next(sessions[number], number, memory);
                        }
                        first.drain();
                        second.drain();
                    });
                } else {
                    store.checkpoint();
                }
                for (int i = 0; i < SESSIONS; i++) {
                    durable[i] = sessions[i].durableSerial();
                }
                acknowledged++;
            }
        } catch (StorageException | StoreException e) {
            if (!storage.isCut()) {
                throw e;
            }
        }
    }

    private static void checkpointBeside(FarStore store, Runnable operation) {
        CompletableFuture<Void> made = CompletableFuture.runAsync(store::checkpoint);
        try {
            while (!made.isDone()) {
                operation.run();
            }
        } finally {
            // Waits also if an operation has thrown: otherwise the next step would run during this checkpoint.
            while (!made.isDone()) {
                Thread.onSpinWait();
            }
        }
        try {
            made.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failed) {
                throw failed;
            }
            throw e;
        }
    }
}
