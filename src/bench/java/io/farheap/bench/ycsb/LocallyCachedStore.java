package io.farheap.bench.ycsb;

import io.farheap.bench.peers.PeerAbsentException;
import io.farheap.lifetime.Closeables;
import io.farheap.store.StoreSession;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ServiceLoader;

/**
 * A store with a cache of another library in front of it, which has the same part of local memory as a store's own read
 * cache. A read that the cache cannot answer is one of a group of reads of the store, and its value goes into the
 * cache. Nothing removes an old value from the cache, so it takes part in loads of reads alone.
 */
final class LocallyCachedStore implements Contestant {

    private final DataSet data;
    private final StoreContestant store;
    private final LocalCache cache;
    private final long cacheBytes;

    /**
     * @param storage which this owns
     * @param localShare of the log that is in local memory, the cache included
     * @param cachedPart the part of that memory for the cache
     */
    LocallyCachedStore(
            DataSet data, LogStorage storage, double localShare, double cachedPart, LocalCacheProvider provider) {
        this.data = data;
        this.cacheBytes = Math.max(1, Math.round(cachedPart * localShare * data.logBytes()));
        this.store = new StoreContestant(data, storage, (1 - cachedPart) * localShare);
        try {
            this.cache = provider.open(data, cacheBytes);
        } catch (Throwable e) {
            Closeables.after(e, store);
            throw e;
        }
    }

    /** @throws PeerAbsentException if there is no such library on the class path */
    static LocalCacheProvider provider() throws PeerAbsentException {
        return ServiceLoader.load(LocalCacheProvider.class)
                .findFirst()
                .orElseThrow(() ->
                        new PeerAbsentException("Caffeine is not on the class path; ./farheap bench ycsb fetches it"));
    }

    @Override
    public void load() {
        store.load();
    }

    @Override
    public ContestantClient open(ClientCounts tally) {
        return new CachedClient(tally, store.openSession());
    }

    @Override
    public boolean changes() {
        return false;
    }

    @Override
    public boolean onDevice() {
        return true;
    }

    @Override
    public Facts facts() {
        Facts facts = store.facts();
        return new Facts(
                facts.localShare() + (double) cacheBytes / data.logBytes(),
                facts.farShare(),
                facts.indexBytes(),
                facts.engine() + ", Caffeine",
                facts.device(),
                true);
    }

    @Override
    public Means means() {
        Means means = store.means();
        return new Means(means.bytesLocal() + cacheBytes, means.inFlight(), means.group());
    }

    @Override
    public void close() {
        store.close();
    }

    /** As {@link StoreClient}, but only for reads. */
    private final class CachedClient implements ContestantClient, StoreCompletion {

        private static final int SIZE = OperationGroup.SIZE;
        /** As many as there are groups with a waiting read, and one more. */
        private static final int GROUPS = StoreContestant.PENDING + 2;

        private final ClientCounts tally;
        private final StoreSession session;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment cached = arena.allocate(data.valueBytes(), Long.BYTES);
        private final MemorySegment values = arena.allocate((long) GROUPS * SIZE * data.valueBytes(), Long.BYTES);
        private final long[][] keys = new long[GROUPS][SIZE];
        /** When a timed read began, else 0. */
        private final long[] begun = new long[GROUPS * SIZE];
        /** By group: reads of the store that have not ended. */
        private final int[] left = new int[GROUPS];

        private final int[] free = new int[GROUPS];
        private int freeCount;

        CachedClient(ClientCounts tally, StoreSession session) {
            this.tally = tally;
            this.session = session;
            while (freeCount < GROUPS) {
                free[freeCount] = freeCount++;
            }
        }

        @Override
        public void run(OperationGroup group) {
            int place = free[--freeCount];
            int missed = 0;
            for (int i = 0; i < SIZE; i++) {
                long key = group.keys[i];
                long from = group.timed(i) ? System.nanoTime() : 0;
                if (cache.get(key, cached)) {
                    end(data.matches(cached, 0, key), from);
                } else {
                    keys[place][missed] = key;
                    begun[place * SIZE + missed] = from;
                    missed++;
                }
            }
            if (missed == 0) {
                free[freeCount++] = place;
            } else {
                read(place, missed);
            }
            session.poll();
        }

        private void read(int place, int count) {
            int first = place * SIZE;
            left[place] = count;
            long offset = (long) first * data.valueBytes();
            int taken = 0;
            while (true) {
                taken += session.readAll(
                        keys[place], taken, count - taken, values, offset, data.valueBytes(), this, first);
                if (taken == count) {
                    break;
                }
                makeRoom();
            }
            // Reads that have not ended within the call.
            tally.pending += left[place];
        }

        @Override
        public void completed(long token, int status, int bytes) {
            int read = (int) token;
            int place = read / SIZE;
            long key = keys[place][read % SIZE];
            long offset = token * data.valueBytes();
            boolean right = status == StoreStatus.DONE && data.matches(values, offset, key);
            if (right) {
                cache.put(key, values, offset);
            }
            end(right, begun[read]);
            if (--left[place] == 0) {
                free[freeCount++] = place;
            }
        }

        private void end(boolean right, long from) {
            tally.end(right);
            if (from != 0) {
                tally.took(System.nanoTime() - from);
            }
        }

        private void makeRoom() {
            if (session.poll()) {
                return;
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
            arena.close();
        }
    }
}
