package io.farheap.manager.state;

import java.util.List;

/**
 * Keeps the state of a manager. Opening a store raises the epoch, and fences every store that was opened before: at
 * most one manager writes, even if two believe that they lead.
 *
 * <p>Any thread may call it; calls take turns.
 */
public interface StateStore {

    /** Returns the epoch of this store, above that of every store opened before. */
    long epoch();

    /**
     * Reads everything. Nothing written by this store, or before it was opened, is missing.
     *
     * @throws StaleEpochException if another store was opened since
     * @throws MalformedRecordException if a stored record cannot be read
     * @throws StateException if the state cannot be reached
     */
    ManagerState load();

    /**
     * Makes all of these changes or none; they are on disk when it returns. Of several changes of one record the last
     * counts. To repeat a write does no harm.
     *
     * @param changes together less than a million bytes
     * @throws StaleEpochException if another store was opened since. Nothing was written, unless the connection was
     *     lost meanwhile: then it may have been written before that other store was opened, which sees it
     * @throws StateException if the changes are too many for one write, or the state cannot be reached or changed.
     *     Nothing was written, unless the message says that the outcome is unknown. In that case the next successful
     *     call of this store settles it: a write that has not taken effect by then never will.
     */
    void write(List<StateChange> changes);
}
