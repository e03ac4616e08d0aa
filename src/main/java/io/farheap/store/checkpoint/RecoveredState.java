package io.farheap.store.checkpoint;

import io.farheap.store.contract.StoreException;
import io.farheap.store.index.HashIndex;
import io.farheap.store.log.LogGaps;
import io.farheap.tier.device.Device;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a store begins with.
 *
 * @param index which whoever asks for this closes
 * @param checkpoint null where there was none
 * @param report what became of the checkpoints, in a sentence
 */
public record RecoveredState(HashIndex index, @Nullable Checkpoint checkpoint, LogGaps gaps, String report) {

    /** What is asked of a checkpoint, which throws where it does not fit the store that is to be opened. */
    public interface CheckpointValidator {
        void check(Checkpoint checkpoint);
    }

    /** @param buckets of the index */
    public static RecoveredState nothing(long buckets) {
        return new RecoveredState(new HashIndex(buckets), null, new LogGaps(List.of()), "");
    }

    /**
     * The newest checkpoint that is whole. Those that are newer are damaged, and set aside.
     *
     * @param name the store's
     * @param device with the log
     * @param buckets of the index, at least
     * @throws StoreException where it is not known whether one is whole; nothing has changed then, and an older one is
     *     not taken
     */
    public static RecoveredState from(
            CheckpointFiles files, String name, Device device, long buckets, CheckpointValidator fitting) {
        List<String> damaged = new ArrayList<>();
        StoreEvent event = StoreEvent.begun(name, "recovery");
        try {
            List<Long> numbers = files.numbers();
            for (int i = 0; i < numbers.size(); i++) {
                long number = numbers.get(i);
                try {
                    RecoveredState recovered = one(files, number, device, buckets, fitting, damaged);
                    event.done(number, recovered.logBytes());
                    setAside(files, numbers.subList(0, i), recovered);
                    return recovered;
                } catch (DamagedCheckpointException e) {
                    damaged.add("checkpoint " + number + " cannot be used: " + e.getMessage());
                } catch (CheckpointUnavailableException e) {
                    throw new StoreException("the store cannot be opened now, as checkpoint " + number
                            + ", which is not known to be damaged, cannot be used: " + e.getMessage()
                            + ". Nothing was changed");
                }
            }
        } catch (IOException e) {
            throw new StoreException("the store's directory cannot be read: " + e.getMessage(), e);
        } finally {
            event.commit();
        }
        if (!damaged.isEmpty()) {
            throw new StoreException("there is no checkpoint that is whole: " + String.join("; ", damaged)
                    + ". Nothing that one has was changed; delete the directory to begin with an empty store");
        }
        return nothing(buckets);
    }

    private static RecoveredState one(
            CheckpointFiles files,
            long number,
            Device device,
            long buckets,
            CheckpointValidator fitting,
            List<String> damaged)
            throws DamagedCheckpointException, CheckpointUnavailableException {
        Checkpoint checkpoint = files.read(number);
        fitting.check(checkpoint);
        checkpoint = CheckpointRestore.run(checkpoint, device, files.files());
        LogGaps gaps = IndexRecovery.gaps(checkpoint);
        String remark = "";
        HashIndex index = null;
        if (checkpoint.index().there() && checkpoint.index().buckets() >= buckets) {
            try {
                index = withImage(checkpoint, device, files.files(), gaps);
            } catch (DamagedCheckpointException e) {
                remark = ", its index from the log: " + e.getMessage();
            }
        }
        if (index == null) {
            index = fromLog(checkpoint, device, buckets, gaps);
        }
        List<String> report = new ArrayList<>(damaged);
        String newer =
                damaged.isEmpty() ? "" : ", and what is newer is set aside, in files whose names end with .damaged";
        report.add("checkpoint " + number + " is recovered" + remark + newer);
        return new RecoveredState(index, checkpoint, gaps, String.join("; ", report));
    }

    private static void setAside(CheckpointFiles files, List<Long> damaged, RecoveredState recovered) {
        try {
            for (long number : damaged) {
                files.setAside(number);
            }
        } catch (IOException e) {
            recovered.index.close();
            throw new StoreException(
                    "a checkpoint that is damaged cannot be set aside, and the next one would overwrite it: "
                            + e.getMessage(),
                    e);
        }
    }

    private long logBytes() {
        return checkpoint == null ? 0 : checkpoint.end() - checkpoint.begin();
    }

    private static HashIndex withImage(Checkpoint checkpoint, Device device, StableFiles files, LogGaps gaps)
            throws DamagedCheckpointException, CheckpointUnavailableException {
        HashIndex index = IndexFiles.read(files, checkpoint);
        return filled(index, checkpoint, device, gaps, checkpoint.index().from());
    }

    /** Chains of a large index lack records of other buckets: a smaller one would not find these through them. */
    private static HashIndex fromLog(Checkpoint checkpoint, Device device, long buckets, LogGaps gaps)
            throws DamagedCheckpointException, CheckpointUnavailableException {
        HashIndex index = new HashIndex(Math.max(buckets, checkpoint.index().buckets()));
        return filled(index, checkpoint, device, gaps, checkpoint.begin());
    }

    private static HashIndex filled(HashIndex index, Checkpoint checkpoint, Device device, LogGaps gaps, long from)
            throws DamagedCheckpointException, CheckpointUnavailableException {
        try {
            IndexRecovery.index(checkpoint, device, index, gaps, from);
            return index;
        } catch (Throwable e) {
            index.close();
            throw e;
        }
    }
}
