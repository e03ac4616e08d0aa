package io.farheap.bench.peers;

import io.farheap.bench.ycsb.ClientCounts;
import io.farheap.bench.ycsb.Contestant;
import io.farheap.bench.ycsb.ContestantClient;
import io.farheap.bench.ycsb.ContestantProvider;
import io.farheap.bench.ycsb.DataSet;
import io.farheap.bench.ycsb.OperationGroup;
import io.farheap.lifetime.CloseStack;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ByteBufferGetStatus;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Statistics;
import org.rocksdb.StatsLevel;
import org.rocksdb.Status;
import org.rocksdb.TickerType;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB past the page cache, compacted, not compressed; its block cache, in which index and filters are too, is as
 * large as a store's local log, or as that and its index. Reads one by one, by as many threads as the plan has or by
 * 64; or a group by one {@code multiGet}, also with asynchronous I/O, which its library uses if it was built with
 * io_uring.
 *
 * <p>The block cache has one shard: a filter is one block of a file, and a shard of a divided cache would have no room
 * for it, so that each read would read it again. Before the first turn, reads of random keys fill the cache until they
 * find filters and index in it. {@code filter_hits} and {@code index_hits} are the parts of the accesses since then
 * that found them there.
 */
public final class RocksDbRecords implements ContestantProvider {

    private static final int MANY_THREADS = 64;

    /**
     * A way to use it.
     *
     * @param index whether it also has the memory of a store's index
     * @param multi whether a group is one {@code multiGet}
     * @param async whether that uses asynchronous I/O
     * @param threads 0 for those of the plan
     */
    private record Variant(String name, boolean index, boolean multi, boolean async, int threads) {

        String engine() {
            return !multi ? "get" : async ? "multiGet, async_io" : "multiGet";
        }
    }

    private static final List<Variant> VARIANTS = List.of(
            new Variant("rocksdb", false, false, false, 0),
            new Variant("rocksdb-64", false, false, false, MANY_THREADS),
            new Variant("rocksdb-multiget", false, true, false, 0),
            new Variant("rocksdb-async", false, true, true, 0),
            new Variant("rocksdb-index", true, true, false, 0),
            new Variant("rocksdb-index-get", true, false, false, 0),
            new Variant("rocksdb-index-64", true, false, false, MANY_THREADS),
            new Variant("rocksdb-index-async", true, true, true, 0));

    private static final int BLOCK_BYTES = 4096;
    private static final int BLOOM_BITS = 10;
    private static final int LOAD_BATCH = 1024;

    private static final int ONE_SHARD = 0;
    /** Of the cache for index and filters, which data blocks do not replace: the default of RocksDB in C++. */
    private static final double HIGH_PRIORITY_PART = 0.5;

    private static final int WARM_UP_BATCH = 1024;
    private static final int WARM_BATCHES = 4;
    /** Reads for each block of the cache, at random: most of its blocks are filled then. */
    private static final int READS_PER_BLOCK = 2;

    private static final long MOST_WARM_UP_NANOS = 20_000_000_000L;

    @Override
    public List<String> names() {
        return VARIANTS.stream().map(Variant::name).toList();
    }

    @Override
    public Contestant open(String name, Setup setup) throws Exception {
        try {
            RocksDB.loadLibrary();
        } catch (UnsatisfiedLinkError | RuntimeException e) {
            throw new PeerAbsentException("RocksDB's library cannot be loaded: " + e.getMessage(), e);
        }
        Variant variant = VARIANTS.stream()
                .filter(one -> one.name().equals(name))
                .findFirst()
                .orElseThrow();
        return new Records(setup, variant);
    }

    private static final class Records implements Contestant {

        private final DataSet data;
        private final Variant variant;
        private final long budget;
        private final double localShare;
        private final CloseStack resources = new CloseStack();
        private final Statistics statistics;
        private final WriteOptions notLogged;
        private final RocksDB db;

        Records(Setup setup, Variant variant) throws RocksDBException {
            this.data = setup.data();
            this.variant = variant;
            this.budget = setup.budgetBytes() + (variant.index() ? setup.indexBytes() : 0);
            this.localShare = Math.min(1, (double) setup.budgetBytes() / data.logBytes());
            try {
                BlockBasedTableConfig table = new BlockBasedTableConfig()
                        .setBlockSize(BLOCK_BYTES)
                        .setBlockCache(resources.add(new LRUCache(budget, ONE_SHARD, false, HIGH_PRIORITY_PART)))
                        .setCacheIndexAndFilterBlocks(true)
                        .setCacheIndexAndFilterBlocksWithHighPriority(true)
                        .setFilterPolicy(resources.add(new BloomFilter(BLOOM_BITS)));
                statistics = resources.add(new Statistics());
                // Counters alone: times would cost a read of the clock each.
                statistics.setStatsLevel(StatsLevel.EXCEPT_DETAILED_TIMERS);
                Options options = resources
                        .add(new Options())
                        .setCreateIfMissing(true)
                        .setUseDirectReads(true)
                        .setUseDirectIoForFlushAndCompaction(true)
                        .setCompressionType(CompressionType.NO_COMPRESSION)
                        .setStatistics(statistics)
                        .setTableFormatConfig(table);
                notLogged = resources.add(new WriteOptions().setDisableWAL(true));
                db = resources.add(RocksDB.open(options, setup.directory().toString()));
            } catch (Throwable e) {
                try (resources) {
                    throw e;
                }
            }
        }

        @Override
        public void load() throws RocksDBException {
            byte[] value = new byte[data.valueBytes()];
            MemorySegment segment = MemorySegment.ofArray(value);
            byte[] keyBytes = new byte[Long.BYTES];
            long key = 0;
            while (key < data.records()) {
                try (WriteBatch batch = new WriteBatch()) {
                    long end = Math.min(data.records(), key + LOAD_BATCH);
                    for (; key < end; key++) {
                        KeyBytes.into(keyBytes, key);
                        data.fill(segment, 0, key);
                        batch.put(keyBytes, value);
                    }
                    db.write(notLogged, batch);
                }
            }
            db.compactRange();
            warmUp(keyBytes, value);
        }

        /** Reads random keys until the cache is full and no read misses a filter or an index, or for some time. */
        private void warmUp(byte[] key, byte[] value) throws RocksDBException {
            SplittableRandom random = new SplittableRandom(1);
            long least = READS_PER_BLOCK * Math.min(budget, data.bytes()) / BLOCK_BYTES;
            long begun = System.nanoTime();
            long reads = 0;
            int warm = 0;
            try (ReadOptions reading = new ReadOptions().setVerifyChecksums(false)) {
                while ((warm < WARM_BATCHES || reads < least) && System.nanoTime() - begun < MOST_WARM_UP_NANOS) {
                    resetTickers();
                    for (int i = 0; i < WARM_UP_BATCH; i++) {
                        KeyBytes.into(key, random.nextLong(data.records()));
                        db.get(reading, key, value);
                    }
                    reads += WARM_UP_BATCH;
                    boolean missed = count(TickerType.BLOCK_CACHE_FILTER_MISS) > 0
                            || count(TickerType.BLOCK_CACHE_INDEX_MISS) > 0;
                    warm = missed ? 0 : warm + 1;
                }
            }
            resetTickers();
        }

        private long count(TickerType ticker) {
            return statistics.getTickerCount(ticker);
        }

        private void resetTickers() {
            statistics.getAndResetTickerCount(TickerType.BLOCK_CACHE_FILTER_MISS);
            statistics.getAndResetTickerCount(TickerType.BLOCK_CACHE_FILTER_HIT);
            statistics.getAndResetTickerCount(TickerType.BLOCK_CACHE_INDEX_MISS);
            statistics.getAndResetTickerCount(TickerType.BLOCK_CACHE_INDEX_HIT);
        }

        private double hits(TickerType hit, TickerType miss) {
            long hits = count(hit);
            return (double) hits / (hits + count(miss));
        }

        @Override
        public Map<String, Double> figures() {
            return Map.of(
                    "filter_hits", hits(TickerType.BLOCK_CACHE_FILTER_HIT, TickerType.BLOCK_CACHE_FILTER_MISS),
                    "index_hits", hits(TickerType.BLOCK_CACHE_INDEX_HIT, TickerType.BLOCK_CACHE_INDEX_MISS));
        }

        @Override
        public int threads(int clients) {
            return variant.threads() == 0 ? clients : variant.threads();
        }

        @Override
        public ContestantClient open(ClientCounts tally) {
            return new RocksClient(tally);
        }

        @Override
        public Facts facts() {
            return new Facts(localShare, 0, 0, variant.engine(), "file, direct", budget > 0);
        }

        @Override
        public Means means() {
            return variant.multi() ? Means.grouped(budget) : Means.single(budget);
        }

        @Override
        public void close() {
            resources.close();
        }

        private final class RocksClient implements ContestantClient {

            private final ClientCounts tally;
            private final ReadOptions reading =
                    new ReadOptions().setVerifyChecksums(false).setAsyncIo(variant.async());
            private final List<ByteBuffer> keys = new ArrayList<>();
            private final List<ByteBuffer> values = new ArrayList<>();
            private final List<MemorySegment> segments = new ArrayList<>();
            private final byte[] key = new byte[Long.BYTES];
            private final byte[] value = new byte[data.valueBytes()];
            private final MemorySegment valueSegment = MemorySegment.ofArray(value);

            RocksClient(ClientCounts tally) {
                this.tally = tally;
                for (int i = 0; variant.multi() && i < OperationGroup.SIZE; i++) {
                    keys.add(ByteBuffer.allocateDirect(Long.BYTES));
                    ByteBuffer read = ByteBuffer.allocateDirect(data.valueBytes());
                    values.add(read);
                    segments.add(MemorySegment.ofBuffer(read));
                }
            }

            @Override
            public void run(OperationGroup group) throws RocksDBException {
                if (variant.multi() && group.readsOnly()) {
                    readAll(group);
                    return;
                }
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    long from = group.timed(i) ? System.nanoTime() : 0;
                    boolean right = operate(group.kinds[i], group.keys[i]);
                    tally.end(right);
                    if (from != 0) {
                        tally.took(System.nanoTime() - from);
                    }
                }
            }

            /** The latency of one is that of all. */
            private void readAll(OperationGroup group) throws RocksDBException {
                long from = System.nanoTime();
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    keys.get(i).clear().putLong(group.keys[i]).flip();
                    values.get(i).clear();
                }
                List<ByteBufferGetStatus> found = db.multiGetByteBuffers(reading, keys, values);
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    tally.end(found.get(i).status.getCode() == Status.Code.Ok
                            && data.matches(segments.get(i), 0, group.keys[i]));
                    if (group.timed(i)) {
                        tally.took(System.nanoTime() - from);
                    }
                }
            }

            private boolean operate(byte kind, long number) throws RocksDBException {
                KeyBytes.into(key, number);
                if (kind == OperationGroup.READ || kind == OperationGroup.MODIFY) {
                    if (db.get(reading, key, value) != value.length || !data.matches(valueSegment, 0, number)) {
                        return false;
                    }
                } else {
                    data.fill(valueSegment, 0, number);
                }
                if (kind != OperationGroup.READ) {
                    db.put(notLogged, key, value);
                }
                return true;
            }

            @Override
            public void close() {
                reading.close();
            }
        }
    }
}
