package io.farheap.store;

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
record Recovered(HashIndex index, @Nullable Checkpoint checkpoint, Gaps gaps, String report) {

    static Recovered nothing(FarStoreBuilder how) {
        return new Recovered(new HashIndex(how.buckets()), null, new Gaps(List.of()), "");
    }

    /** The newest checkpoint that is whole. */
    static Recovered from(CheckpointFiles files, FarStoreBuilder how) {
        List<String> damaged = new ArrayList<>();
        StoreEvent event = StoreEvent.begun(how.name(), "recovery");
        try {
            for (long number : files.numbers()) {
                try {
                    Checkpoint checkpoint = files.read(number);
                    how.check(checkpoint);
                    checkpoint = Restoring.run(checkpoint, how.device(), files.files());
                    Gaps gaps = Recovery.gaps(checkpoint);
                    String remark = "";
                    HashIndex index = null;
                    if (checkpoint.index().there() && checkpoint.index().buckets() >= how.buckets()) {
                        try {
                            index = withImage(checkpoint, how, files.files(), gaps);
                        } catch (DamagedException e) {
                            remark = ", its index from the log: " + e.getMessage();
                        }
                    }
                    if (index == null) {
                        index = fromLog(checkpoint, how, gaps);
                    }
                    damaged.add("checkpoint " + number + " is recovered" + remark);
                    event.done(number, checkpoint.end() - checkpoint.begin());
                    return new Recovered(index, checkpoint, gaps, String.join("; ", damaged));
                } catch (DamagedException e) {
                    damaged.add("checkpoint " + number + " cannot be used: " + e.getMessage());
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
        return nothing(how);
    }

    private static HashIndex withImage(Checkpoint checkpoint, FarStoreBuilder how, StableFiles files, Gaps gaps)
            throws DamagedException {
        HashIndex index = IndexFiles.read(files, checkpoint);
        return filled(index, checkpoint, how, gaps, checkpoint.index().from());
    }

    /** Chains of a large index lack records of other buckets: a smaller one would not find these through them. */
    private static HashIndex fromLog(Checkpoint checkpoint, FarStoreBuilder how, Gaps gaps) throws DamagedException {
        HashIndex index =
                new HashIndex(Math.max(how.buckets(), checkpoint.index().buckets()));
        return filled(index, checkpoint, how, gaps, checkpoint.begin());
    }

    private static HashIndex filled(HashIndex index, Checkpoint checkpoint, FarStoreBuilder how, Gaps gaps, long from)
            throws DamagedException {
        try {
            Recovery.index(checkpoint, how.device(), index, gaps, from);
            return index;
        } catch (Throwable e) {
            index.close();
            throw e;
        }
    }
}
