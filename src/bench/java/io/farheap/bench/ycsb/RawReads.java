package io.farheap.bench.ycsb;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.lifetime.Closeables;

/**
 * A bare session of the cache that has a store's log: reads as long as a record, at as many places, without an index
 * and without checks. It is the limit of a store over that cache.
 */
final class RawReads implements Contestant {

    private final DataSet data;
    private final Cache cache;

    /** @param cache that this does not own */
    RawReads(DataSet data, Cache cache) {
        this.data = data;
        this.cache = cache;
        if (cache.capacity() < data.logBytes()) {
            throw new IllegalArgumentException(
                    "a cache of " + cache.capacity() + " bytes for " + data.logBytes() + " bytes of records");
        }
    }

    /** The existing content is used. */
    @Override
    public void load() {}

    @Override
    public ContestantClient open(ClientCounts tally) {
        return new RawClient(tally);
    }

    @Override
    public boolean onDevice() {
        return true;
    }

    @Override
    public Facts facts() {
        return new Facts(0, 1, 0, "one-sided", "far memory, " + cache.configuration(), true);
    }

    @Override
    public Means means() {
        return new Means(0, StoreContestant.PENDING, OperationGroup.SIZE);
    }

    @Override
    public void close() {}

    private final class RawClient implements ContestantClient, Completion {

        private final ClientCounts tally;
        private final CacheSession session;
        private final Buffer buffer;
        private final int[] free = new int[StoreContestant.PENDING];
        private final long[] begun = new long[StoreContestant.PENDING];
        private int freeCount;

        RawClient(ClientCounts tally) {
            this.tally = tally;
            session = cache.openSession();
            try {
                buffer = cache.allocate((long) free.length * data.recordBytes());
            } catch (Throwable e) {
                Closeables.after(e, session);
                throw e;
            }
            while (freeCount < free.length) {
                free[freeCount] = freeCount++;
            }
        }

        @Override
        public void run(OperationGroup group) {
            int bytes = data.recordBytes();
            for (int i = 0; i < OperationGroup.SIZE; i++) {
                while (freeCount == 0) {
                    session.poll();
                }
                int place = free[--freeCount];
                begun[place] = group.timed(i) ? System.nanoTime() : 0;
                long address = group.keys[i] % data.records() * bytes;
                while (!session.read(address, buffer, (long) place * bytes, bytes, this, place)) {
                    session.poll();
                }
                tally.pending++;
                tally.deviceReads++;
            }
            session.poll();
        }

        @Override
        public void completed(long token, int status) {
            int place = (int) token;
            free[freeCount++] = place;
            tally.end(status == Status.OK);
            if (begun[place] != 0) {
                tally.took(System.nanoTime() - begun[place]);
            }
        }

        @Override
        public void drain() {
            session.drain();
        }

        @Override
        public void close() {
            Closeables.all(session, buffer);
        }
    }
}
