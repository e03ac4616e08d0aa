package io.farheap.store.checkpoint;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A flight recorder event for a store's checkpoint, compaction or recovery, and its duration. It contains no keys. */
@Name("io.farheap.StoreMaintenance")
@Label("Store Maintenance")
@Description("A checkpoint, a compaction or a recovery of a store")
@Category("Farheap")
@Enabled
@StackTrace(false)
public final class StoreEvent extends Event {

    @Label("Store")
    String store = "";

    @Label("What")
    @Description("checkpoint, compaction or recovery")
    String what = "";

    @Label("Checkpoint")
    @Description("The number of the checkpoint that was made or recovered; 0 for none")
    long number;

    @Label("Bytes")
    @Description("Bytes of the log that a compaction gave back, or that the log has at a checkpoint or a recovery")
    @DataAmount
    long bytes;

    @Label("Done")
    boolean done;

    public static StoreEvent begun(String store, String what) {
        StoreEvent event = new StoreEvent();
        event.store = store;
        event.what = what;
        event.begin();
        return event;
    }

    /** Says that the work was done. If this is not called, the event says that it was not. */
    public void done(long checkpoint, long log) {
        number = checkpoint;
        bytes = log;
        done = true;
    }
}
