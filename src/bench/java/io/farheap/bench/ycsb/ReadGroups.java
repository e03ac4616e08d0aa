package io.farheap.bench.ycsb;

import io.farheap.store.StoreSession;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Groups of reads, each group one request of a session, with memory for their results; one thread. */
final class ReadGroups implements StoreCompletion, AutoCloseable {

    private static final int SIZE = OperationGroup.SIZE;

    private final StoreSession session;
    private final DataSet data;
    private final ClientCounts tally;
    private final Runnable makeRoom;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment values;
    private final long[][] keys;
    /** When a timed read began, else 0. */
    private final long[] begun;
    /** By group: reads that have not ended. */
    private final int[] left;

    private final int[] free;
    private int freeCount;

    /** @param groups the most groups with reads that have not ended */
    ReadGroups(StoreSession session, DataSet data, int groups, ClientCounts tally, Runnable makeRoom) {
        this.session = session;
        this.data = data;
        this.tally = tally;
        this.makeRoom = makeRoom;
        values = arena.allocate((long) groups * SIZE * data.valueBytes(), Long.BYTES);
        keys = new long[groups][SIZE];
        begun = new long[groups * SIZE];
        left = new int[groups];
        free = new int[groups];
        while (freeCount < groups) {
            free[freeCount] = freeCount++;
        }
    }

    void read(OperationGroup group) {
        int place = free[--freeCount];
        int first = place * SIZE;
        left[place] = SIZE;
        System.arraycopy(group.keys, 0, keys[place], 0, SIZE);
        for (int i = 0; i < SIZE; i++) {
            begun[first + i] = group.timed(i) ? System.nanoTime() : 0;
        }
        long offset = (long) first * data.valueBytes();
        int taken = 0;
        while (true) {
            taken += session.readAll(keys[place], taken, SIZE - taken, values, offset, data.valueBytes(), this, first);
            if (taken == SIZE) {
                break;
            }
            makeRoom.run();
        }
        // Reads that have not ended within the call.
        tally.pending += left[place];
    }

    @Override
    public void completed(long token, int status, int bytes) {
        int read = (int) token;
        int place = read / SIZE;
        boolean right =
                status == StoreStatus.DONE && data.matches(values, token * data.valueBytes(), keys[place][read % SIZE]);
        tally.end(right);
        if (begun[read] != 0) {
            tally.took(System.nanoTime() - begun[read]);
        }
        if (--left[place] == 0) {
            free[freeCount++] = place;
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
