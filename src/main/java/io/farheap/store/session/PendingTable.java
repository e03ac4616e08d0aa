package io.farheap.store.session;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.Update;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * The pending operations of one session, which wait for the device or are to be tried again: one place each, whose
 * fields are in parallel arrays, so that no operation allocates.
 */
public final class PendingTable {

    private static final VarHandle UPDATES;

    static {
        try {
            UPDATES = MethodHandles.lookup().findVarHandle(PendingTable.class, "updates", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    static final int READ = 0;
    static final int UPDATE = 1;
    /** Copies a record to the tail if it is the newest of its key; {@link #argument} is the record's address. */
    static final int MOVE = 2;

    final int places;
    final int[] kind;
    /** The completion to call, and its token. */
    final StoreCompletion[] completion;

    final long[] token;
    /** Where a read puts its value. */
    final MemorySegment[] into;

    final long[] offset;
    final int[] room;
    final Update[] update;
    final long[] argument;
    /** The key's length, and the key itself if it has 8 bytes, otherwise its address. */
    final int[] keyBytes;

    final long[] key;
    /** The chain's first address on the device when the operation began, and the address that is being read. */
    final long[] first;

    final long[] address;
    /** The range of the log that is being read. */
    final long[] from;

    final int[] bytes;
    /** How the operation continues when it is tried again; see {@code DeviceReads}. */
    final int[] next;
    /** Which of the memories for long records the operation has, or -1. */
    final int[] wide;

    private final int[] free;
    private int frees;
    private final int[] again;
    private int agains;
    private int updates;

    PendingTable(int places) {
        this.places = places;
        kind = new int[places];
        completion = new StoreCompletion[places];
        token = new long[places];
        into = new MemorySegment[places];
        offset = new long[places];
        room = new int[places];
        update = new Update[places];
        argument = new long[places];
        keyBytes = new int[places];
        key = new long[places];
        first = new long[places];
        address = new long[places];
        from = new long[places];
        bytes = new int[places];
        next = new int[places];
        wide = new int[places];
        free = new int[places];
        again = new int[2 * places];
        for (int place = places - 1; place >= 0; place--) {
            free[frees++] = place;
        }
    }

    /** @return a place, or -1 */
    int take(int what) {
        if (frees == 0) {
            return -1;
        }
        int place = free[--frees];
        kind[place] = what;
        wide[place] = -1;
        if (what != READ) {
            UPDATES.setOpaque(this, updates + 1);
        }
        return place;
    }

    void giveBack(int place) {
        if (kind[place] != READ) {
            UPDATES.setOpaque(this, updates - 1);
        }
        clear(place);
        free[frees++] = place;
    }

    @SuppressWarnings("NullAway") // Free places keep nothing alive.
    private void clear(int place) {
        completion[place] = null;
        into[place] = null;
        update[place] = null;
    }

    public int pending() {
        return places - frees;
    }

    /** How many pending operations change something. Any thread; from another thread, a moment old. */
    int updates() {
        return (int) UPDATES.getOpaque(this);
    }

    /** Has an operation tried again in the next poll. */
    void again(int place) {
        again[agains++] = place;
    }

    /** @return how many operations are to be tried again; {@link #tried} removes the first ones */
    int toTry() {
        return agains;
    }

    /** The place of the {@code i}th operation that is to be tried again. */
    int toTry(int i) {
        return again[i];
    }

    /** Ends all operations that were to be tried again. @return an action for each that ends it, and which may throw */
    List<AutoCloseable> ends(IntConsumer end) {
        int[] places = Arrays.copyOf(again, agains);
        agains = 0;
        return Arrays.stream(places)
                .<AutoCloseable>mapToObj(place -> () -> end.accept(place))
                .toList();
    }

    /**
     * Says that the first {@code count} operations have been tried; those that are to be tried once more were added
     * behind them.
     */
    void tried(int count) {
        agains -= count;
        System.arraycopy(again, count, again, 0, agains);
    }
}
