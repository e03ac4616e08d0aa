package io.farheap.bench.peers;

import io.farheap.bench.machine.MappedMemory;
import io.farheap.bench.ycsb.ClientCounts;
import io.farheap.bench.ycsb.Contestant;
import io.farheap.bench.ycsb.ContestantClient;
import io.farheap.bench.ycsb.ContestantProvider;
import io.farheap.bench.ycsb.DataSet;
import io.farheap.bench.ycsb.OperationGroup;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.PutFlags;
import org.lmdbjava.Txn;

/**
 * LMDB: a tree that is mapped, so its memory is the page cache, which no budget bounds outside of a memory cgroup: its
 * rows say what it has there, and are compared with none. A group's reads are one transaction; what changes records has
 * one for each.
 */
public final class LmdbRecords implements ContestantProvider {

    private static final String NAME = "lmdb";
    private static final long LOAD_BATCH = 1 << 16;
    private static final int MOST_READERS = 128;

    @Override
    public List<String> names() {
        return List.of(NAME);
    }

    @Override
    public Contestant open(String name, Setup setup) throws PeerAbsentException {
        try {
            return new Records(setup);
        } catch (LinkageError e) {
            throw new PeerAbsentException("lmdbjava does not run on this JDK: " + e.getMessage(), e);
        }
    }

    private static final class Records implements Contestant {

        private final DataSet data;
        private final Path file;
        private final Env<ByteBuffer> env;
        private final Dbi<ByteBuffer> db;

        Records(Setup setup) {
            this.data = setup.data();
            file = setup.directory().resolve("data.mdb");
            env = Env.create()
                    .setMapSize(4 * data.bytes() + (1L << 30))
                    .setMaxDbs(1)
                    .setMaxReaders(MOST_READERS)
                    .open(setup.directory().toFile(), EnvFlags.MDB_NOSYNC, EnvFlags.MDB_NORDAHEAD);
            try {
                db = env.openDbi(NAME, DbiFlags.MDB_CREATE);
            } catch (Throwable e) {
                env.close();
                throw e;
            }
        }

        @Override
        public void load() {
            ByteBuffer key = ByteBuffer.allocateDirect(Long.BYTES);
            ByteBuffer value = ByteBuffer.allocateDirect(data.valueBytes());
            long number = 0;
            while (number < data.records()) {
                try (Txn<ByteBuffer> transaction = env.txnWrite()) {
                    long end = Math.min(data.records(), number + LOAD_BATCH);
                    for (; number < end; number++) {
                        key.clear().putLong(number).flip();
                        data.fill(MemorySegment.ofBuffer(value.clear()), 0, number);
                        db.put(transaction, key, value, PutFlags.MDB_APPEND);
                    }
                    transaction.commit();
                }
            }
        }

        @Override
        public ContestantClient open(ClientCounts tally) {
            return new LmdbClient(tally);
        }

        @Override
        public Facts facts() {
            return new Facts(0, 0, 0, "mapped", "file, page cache", false);
        }

        /** What it has of its file in memory so far; a transaction has a group, key by key. */
        @Override
        public Means means() {
            return Means.single(MappedMemory.residentBytes(file));
        }

        @Override
        public void close() {
            env.close();
        }

        private final class LmdbClient implements ContestantClient {

            private final ClientCounts tally;
            private final Txn<ByteBuffer> reading = env.txnRead();
            private final ByteBuffer key = ByteBuffer.allocateDirect(Long.BYTES);
            private final ByteBuffer written = ByteBuffer.allocateDirect(data.valueBytes());

            LmdbClient(ClientCounts tally) {
                this.tally = tally;
                reading.reset();
            }

            @Override
            public void run(OperationGroup group) {
                reading.renew();
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    long from = group.timed(i) ? System.nanoTime() : 0;
                    boolean right = operate(group.kinds[i], group.keys[i]);
                    tally.end(right);
                    if (from != 0) {
                        tally.took(System.nanoTime() - from);
                    }
                }
                reading.reset();
            }

            private boolean operate(byte kind, long number) {
                key.clear().putLong(number).flip();
                if (kind == OperationGroup.READ) {
                    return matches(db.get(reading, key), number);
                }
                try (Txn<ByteBuffer> transaction = env.txnWrite()) {
                    boolean right = kind != OperationGroup.MODIFY || matches(db.get(transaction, key), number);
                    data.fill(MemorySegment.ofBuffer(written.clear()), 0, number);
                    db.put(transaction, key, written);
                    transaction.commit();
                    return right;
                }
            }

            private boolean matches(ByteBuffer value, long number) {
                return Objects.nonNull(value)
                        && value.remaining() == data.valueBytes()
                        && data.matches(MemorySegment.ofBuffer(value), 0, number);
            }

            @Override
            public void close() {
                reading.close();
            }
        }
    }
}
