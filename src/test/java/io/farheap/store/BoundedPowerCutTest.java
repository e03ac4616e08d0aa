package io.farheap.store;

import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.farheap.store.checkpoint.StorageFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.tier.FileDevice;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.RecordingStorage;
import io.farheap.tier.device.StorageException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Cuts the power under a store that has no space left, and makes room by deletes, compactions and checkpoints again and
 * again: what is recovered fits, is what a checkpoint had, and the store continues.
 */
class BoundedPowerCutTest {

    private static final int PAGE = 4096;
    private static final int SEGMENT = 4 * PAGE;
    private static final int LIVES = Effort.either(12, 400);

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private long next;
    /** The store that was last opened for changes. */
    private volatile @Nullable FarStore used;

    @Test
    void aFullStoreContinuesAfterEachCut() {
        System.out.println("seed " + seed);
        CheckpointKind[] kinds = CheckpointKind.values();
        Duration bound = Duration.ofNanos(TestDevice.patience(240_000_000_000L));
        assertTimeoutPreemptively(bound, () -> cutAgainAndAgain(kinds), () -> "it stands still: " + state());
    }

    private void cutAgainAndAgain(CheckpointKind[] kinds) {
        try (BoundedHistory history = new BoundedHistory(false)) {
            RecordingStorage storage = new RecordingStorage();
            for (int life = 0; life < LIVES; life++) {
                storage.stopAfter(300 + random.nextInt(400));
                live(storage, history, kinds[random.nextInt(kinds.length)]);
                storage = storage.cut(random);
                try (FileDevice device = device(storage);
                        FarStore store = how(storage, device).open();
                        StoreSession session = store.openSession(BoundedHistory.NAME)) {
                    history.recovered(session);
                    history.checkBelow(session, next);
                }
            }
        }
    }

    private String state() {
        FarStore store = used;
        return store == null
                ? "no store is open"
                : store.spaceBytes() + " bytes on the device, " + store.logBytes() + " of the log, "
                        + store.maintenanceFailure().or(store::failure);
    }

    private static FileDevice device(RecordingStorage storage) {
        return FileDevice.open(storage, SEGMENT, FileOptions.DEFAULT.with(FileOptions.Engine.POLLER));
    }

    private static FarStoreBuilder how(RecordingStorage storage, FileDevice device) {
        return FarStore.builder()
                .device(device)
                .files(new StorageFiles(storage))
                .pageBytes(PAGE)
                .memory(6 * PAGE)
                .expectedKeys(64)
                .spaceLimit(32 * PAGE)
                .writePatience(Duration.ZERO)
                .onMaintenanceFailure(cause -> {});
    }

    /** Uses a store until the power is cut. */
    private void live(RecordingStorage storage, BoundedHistory history, CheckpointKind kind) {
        try (FileDevice device = device(storage);
                FarStore store = how(storage, device).checkpoints(kind).open();
                StoreSession session = store.openSession(BoundedHistory.NAME)) {
            used = store;
            history.recovered(session);
            while (!storage.isCut()) {
                long key = random.nextInt(3) == 0 && next > 0 ? random.nextLong(next) : next;
                int outcome = history.put(session, key);
                next += key == next ? 1 : 0;
                if (outcome == StoreStatus.NO_SPACE) {
                    List<Long> keys = history.keys();
                    for (int i = 0; i < 150 && !keys.isEmpty() && !storage.isCut(); i++) {
                        history.delete(session, keys.remove(random.nextInt(keys.size())));
                    }
                } else if (random.nextInt(2000) == 0) {
                    store.checkpoint();
                }
            }
        } catch (StorageException | StoreException e) {
            if (!storage.isCut()) {
                throw e;
            }
        }
    }
}
