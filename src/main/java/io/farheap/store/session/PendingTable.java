package io.farheap.store.session;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.Update;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;

/** Operations of one session that wait for its device, or to be tried again, by place. Nothing here allocates. */
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
    /** A record is copied to the tail if it is the newest of its key: the argument is its address. */
    static final int MOVE = 2;

    final int places;
    final int[] kind;
    /** Whom to tell, and by which token. */
    final StoreCompletion[] completion;

    final long[] token;
    /** Where a value is to go. */
    final MemorySegment[] into;

    final long[] offset;
    final int[] room;
    final Update[] update;
    final long[] argument;
    /** The key: its bytes, and its word, or where it lies. */
    final int[] keyBytes;

    final long[] key;
    /** The chain's first record on the device when this began, and the one that is being read. */
    final long[] first;

    final long[] address;
    /** What is read of the log: from where, and how many bytes; and into which place of which memory. */
    final long[] from;

    final int[] bytes;
    /** What comes next, where it is to be tried again. */
    final int[] next;
    /** Of memory for long records, or -1. */
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

    /** Those that change something. Any thread; of another's table a moment old. */
    int updates() {
        return (int) UPDATES.getOpaque(this);
    }

    /** It is to be tried again, in the next poll. */
    void again(int place) {
        again[agains++] = place;
    }

    /** @return how many are to be tried again; of these {@link #tried} are the first */
    int toTry() {
        return agains;
    }

    /** The {@code i}th of those. */
    int toTry(int i) {
        return again[i];
    }

    /** Ends all that are to be tried again, none of which is then. @return an end for each, which may throw */
    List<AutoCloseable> ends(IntConsumer end) {
        int[] places = Arrays.copyOf(again, agains);
        agains = 0;
        return Arrays.stream(places)
                .<AutoCloseable>mapToObj(place -> () -> end.accept(place))
                .toList();
    }

    /** The first so many have been tried; who is to be tried once more has been added behind. */
    void tried(int count) {
        agains -= count;
        System.arraycopy(again, count, again, 0, agains);
    }
}
