package io.farheap.bench.ycsb;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.store.StoreSession;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * A session of a store. If it is not to carry out one operation after another, a group of reads is one request; for
 * another group the buckets and records are touched first, then its operations begin. As many operations wait for the
 * device as the session accepts. Values that are read are checked.
 */
final class StoreClient implements ContestantClient, StoreCompletion {

    private static final int SPINS = 64;

    private final StoreSession session;
    private final DataSet data;
    private final ClientCounts tally;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment values;
    private final MemorySegment written;
    private final Update modification;
    private final ReadGroups groups;
    private final boolean single;
    private final boolean whole;

    // Memory for results; the free places are in a stack.
    private final int[] free;
    private int freeCount;
    private final long[] keys;
    /** When a timed operation began, else 0. */
    private final long[] begun;

    private final boolean[] reading;

    /**
     * @param pending the most waiting operations of the session
     * @param single whether an operation begins when the one before has ended
     * @param whole whether a group begins when the one before has ended
     */
    StoreClient(StoreSession session, DataSet data, int pending, boolean single, boolean whole, ClientCounts tally) {
        this.single = single;
        this.whole = whole;
        this.session = session;
        this.data = data;
        this.tally = tally;
        int places = pending + 1;
        // As many as there can be groups with a waiting read, and two more.
        groups = new ReadGroups(session, data, pending + 2, tally, this::makeRoom);
        values = arena.allocate((long) places * data.valueBytes(), Long.BYTES);
        written = arena.allocate(data.valueBytes(), Long.BYTES);
        free = new int[places];
        keys = new long[places];
        begun = new long[places];
        reading = new boolean[places];
        while (freeCount < places) {
            free[freeCount] = freeCount++;
        }
        modification = new AddToFirst(data);
    }

    @Override
    public void run(OperationGroup group) {
        if (single) {
            one(group);
        } else if (group.readsOnly()) {
            groups.read(group);
        } else {
            mixed(group);
        }
        if (whole) {
            end();
        }
        session.poll();
    }

    /** Waits until all operations have ended. */
    private void end() {
        while (session.pending() > 0) {
            makeRoom();
        }
    }

    private void one(OperationGroup group) {
        for (int i = 0; i < OperationGroup.SIZE; i++) {
            begin(group.kinds[i], group.keys[i], group.timed(i));
            end();
        }
    }

    private void mixed(OperationGroup group) {
        long touching = 0;
        for (int i = 0; i < OperationGroup.SIZE; i++) {
            touching += session.touch(group.keys[i]);
        }
        for (int i = 0; i < OperationGroup.SIZE; i++) {
            touching += session.touchRecord(group.keys[i]);
        }
        tally.touched += touching;
        for (int i = 0; i < OperationGroup.SIZE; i++) {
            begin(group.kinds[i], group.keys[i], group.timed(i));
        }
    }

    private void begin(byte kind, long key, boolean timed) {
        switch (kind) {
            case OperationGroup.READ -> read(key, timed);
            case OperationGroup.MODIFY -> modify(key, timed);
            default -> write(key, timed);
        }
    }

    private void read(long key, boolean timed) {
        int place = free[freeCount - 1];
        long from = timed ? System.nanoTime() : 0;
        long offset = (long) place * data.valueBytes();
        int status = session.read(key, values, offset, data.valueBytes(), this, place);
        while (status == StoreStatus.FULL) {
            // Other places may become free meanwhile, so that another one is on top of the stack.
            makeRoom();
            place = free[freeCount - 1];
            offset = (long) place * data.valueBytes();
            status = session.read(key, values, offset, data.valueBytes(), this, place);
        }
        if (status == StoreStatus.DONE) {
            end(data.matches(values, offset, key), from);
        } else {
            waits(status, place, key, from);
            reading[place] = true;
        }
    }

    private void modify(long key, boolean timed) {
        int place = free[freeCount - 1];
        long from = timed ? System.nanoTime() : 0;
        int status = session.update(key, modification, 0, this, place);
        while (status == StoreStatus.FULL) {
            makeRoom();
            place = free[freeCount - 1];
            status = session.update(key, modification, 0, this, place);
        }
        if (status == StoreStatus.DONE) {
            end(true, from);
        } else {
            waits(status, place, key, from);
            reading[place] = false;
        }
    }

    private void write(long key, boolean timed) {
        long from = timed ? System.nanoTime() : 0;
        store(key);
        end(true, from);
    }

    /** Stores a key's value, whether the key exists or not. */
    void store(long key) {
        data.fill(written, 0, key);
        int status = session.upsert(key, written, 0, data.valueBytes());
        while (status == StoreStatus.FULL) {
            makeRoom();
            status = session.upsert(key, written, 0, data.valueBytes());
        }
        if (status != StoreStatus.DONE) {
            throw new IllegalStateException("cannot store a record: " + StoreStatus.describe(status));
        }
    }

    private void waits(int status, int place, long key, long from) {
        if (status != StoreStatus.PENDING) {
            throw new IllegalStateException("key " + key + ": " + StoreStatus.describe(status));
        }
        tally.pending++;
        freeCount--;
        keys[place] = key;
        begun[place] = from;
    }

    private void end(boolean right, long from) {
        tally.end(right);
        if (from != 0) {
            tally.took(System.nanoTime() - from);
        }
    }

    @Override
    public void completed(long token, int status, int bytes) {
        int place = (int) token;
        boolean right = status == StoreStatus.DONE
                && (!reading[place] || data.matches(values, (long) place * data.valueBytes(), keys[place]));
        free[freeCount++] = place;
        end(right, begun[place]);
    }

    private void makeRoom() {
        for (int i = 0; i < SPINS; i++) {
            if (session.poll()) {
                return;
            }
            Thread.onSpinWait();
        }
        if (session.pending() > 0) {
            session.awaitProgress();
        } else {
            // The log's thread has fallen behind, and may need this core.
            Thread.yield();
        }
    }

    @Override
    public void drain() {
        session.drain();
        tally.deviceReads = session.deviceReads();
    }

    @Override
    public void close() {
        session.close();
        groups.close();
        arena.close();
    }

    /** Adds its argument, which is 0 here, so that values stay as readers expect them. */
    private record AddToFirst(DataSet data) implements Update {

        @Override
        public int initialBytes(long argument) {
            return -1;
        }

        @Override
        public void initial(MemorySegment value, long offset, int bytes, long argument) {
            throw new IllegalStateException("every key is there");
        }

        @Override
        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
            value.set(JAVA_LONG_UNALIGNED, offset, value.get(JAVA_LONG_UNALIGNED, offset) + argument);
            return true;
        }

        @Override
        public void copy(
                MemorySegment old,
                long oldOffset,
                int oldBytes,
                MemorySegment value,
                long offset,
                int bytes,
                long argument) {
            MemorySegment.copy(old, oldOffset, value, offset, bytes);
            inPlace(value, offset, bytes, argument);
        }
    }
}
