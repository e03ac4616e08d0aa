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
 * The state with which a store begins.
 *
 * @param index the caller closes it
 * @param checkpoint the one that was recovered; null if there was none
 * @param report a sentence that says what became of the checkpoints
 */
public record RecoveredState(HashIndex index, @Nullable Checkpoint checkpoint, LogGaps gaps, String report) {

    /** Checks whether a checkpoint fits the store that is to be opened, and throws if it does not. */
    public interface CheckpointValidator {
        void check(Checkpoint checkpoint);
    }

    /** @param buckets of the index */
    public static RecoveredState nothing(long buckets) {
        return new RecoveredState(new HashIndex(buckets), null, new LogGaps(List.of()), "");
    }

    /**
     * Recovers the newest checkpoint that is not damaged. Newer ones are damaged, and are set aside.
     *
     * @param name the store's
     * @param device which has the log
     * @param buckets how many buckets the index has at least
     * @throws StoreException if all checkpoints are damaged, or if one cannot be read now, so that it is not known
     *     whether it is damaged; an older one is not taken then, and nothing has changed
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
                    + ". Their files were not changed; delete the directory to begin with an empty store");
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
                damaged.isEmpty() ? "" : ", and newer ones are set aside, in files whose names end with .damaged";
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

    /**
     * Builds the index from the log. It has at least as many buckets as before: a chain in a larger index lacks records
     * of other buckets, so a smaller index would not find those through it.
     */
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
