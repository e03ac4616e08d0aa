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
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ByteBufferGetStatus;
import org.rocksdb.CompressionType;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Status;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB past the page cache, compacted, not compressed; its block cache, in which index and filters are too, is as
 * large as a store's local log, or as that and its index. Reads one by one, or a group by one {@code multiGet}.
 */
public final class RocksDbRecords implements ContestantProvider {

    private static final String GET = "rocksdb";
    private static final String MULTI_GET = "rocksdb-multiget";
    private static final String WITH_INDEX = "rocksdb-index";

    private static final int BLOCK_BYTES = 4096;
    private static final int BLOOM_BITS = 10;
    private static final int LOAD_BATCH = 1024;
    /** The log2 of the shards of the block cache. In 16 shards of a small cache no filter of a file finds room. */
    private static final int ONE_SHARD = 0;

    @Override
    public List<String> names() {
        return List.of(GET, MULTI_GET, WITH_INDEX);
    }

    @Override
    public Contestant open(String name, Setup setup) throws Exception {
        try {
            RocksDB.loadLibrary();
        } catch (UnsatisfiedLinkError | RuntimeException e) {
            throw new PeerAbsentException("RocksDB's library cannot be loaded: " + e.getMessage(), e);
        }
        long budget = setup.budgetBytes() + (name.equals(WITH_INDEX) ? setup.indexBytes() : 0);
        return new Records(setup, budget, !name.equals(GET));
    }

    private static final class Records implements Contestant {

        private final DataSet data;
        private final long budget;
        private final double localShare;
        private final boolean multi;
        private final CloseStack resources = new CloseStack();
        private final WriteOptions notLogged;
        private final RocksDB db;

        Records(Setup setup, long budget, boolean multi) throws RocksDBException {
            this.data = setup.data();
            this.budget = budget;
            this.localShare = Math.min(1, (double) setup.budgetBytes() / data.logBytes());
            this.multi = multi;
            try {
                BlockBasedTableConfig table = new BlockBasedTableConfig()
                        .setBlockSize(BLOCK_BYTES)
                        .setBlockCache(resources.add(new LRUCache(budget, ONE_SHARD)))
                        .setCacheIndexAndFilterBlocks(true)
                        .setFilterPolicy(resources.add(new BloomFilter(BLOOM_BITS)));
                Options options = resources
                        .add(new Options())
                        .setCreateIfMissing(true)
                        .setUseDirectReads(true)
                        .setUseDirectIoForFlushAndCompaction(true)
                        .setCompressionType(CompressionType.NO_COMPRESSION)
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
        }

        @Override
        public ContestantClient open(ClientCounts tally) {
            return new RocksClient(tally);
        }

        @Override
        public Facts facts() {
            return new Facts(localShare, 0, 0, multi ? "multiGet" : "get", "file, direct", budget > 0);
        }

        @Override
        public void close() {
            resources.close();
        }

        private final class RocksClient implements ContestantClient {

            private final ClientCounts tally;
            private final ReadOptions reading = new ReadOptions().setVerifyChecksums(false);
            private final List<ByteBuffer> keys = new ArrayList<>();
            private final List<ByteBuffer> values = new ArrayList<>();
            private final List<MemorySegment> segments = new ArrayList<>();
            private final byte[] key = new byte[Long.BYTES];
            private final byte[] value = new byte[data.valueBytes()];
            private final MemorySegment valueSegment = MemorySegment.ofArray(value);

            RocksClient(ClientCounts tally) {
                this.tally = tally;
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    keys.add(ByteBuffer.allocateDirect(Long.BYTES));
                    ByteBuffer read = ByteBuffer.allocateDirect(data.valueBytes());
                    values.add(read);
                    segments.add(MemorySegment.ofBuffer(read));
                }
            }

            @Override
            public void run(OperationGroup group) throws RocksDBException {
                if (multi && group.readsOnly()) {
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
