package io.farheap.bench.peers;

import io.farheap.bench.machine.MappedMemory;
import io.farheap.bench.ycsb.ClientCounts;
import io.farheap.bench.ycsb.Contestant;
import io.farheap.bench.ycsb.ContestantClient;
import io.farheap.bench.ycsb.ContestantProvider;
import io.farheap.bench.ycsb.DataSet;
import io.farheap.bench.ycsb.OperationGroup;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.mapdb.BTreeMap;
import org.mapdb.DB;
import org.mapdb.DBMaker;
import org.mapdb.Serializer;

/**
 * MapDB: a tree in a mapped file, so its memory is the page cache, which no budget bounds outside of a memory cgroup:
 * its rows say what it has there, and are compared with none.
 */
public final class MapDbRecords implements ContestantProvider {

    private static final String NAME = "mapdb";

    @Override
    public List<String> names() {
        return List.of(NAME);
    }

    @Override
    public Contestant open(String name, Setup setup) throws PeerAbsentException {
        try {
            return new Records(setup);
        } catch (LinkageError e) {
            throw new PeerAbsentException("MapDB does not run on this JDK: " + e, e);
        }
    }

    private static final class Records implements Contestant {

        private final DataSet data;
        private final Path file;
        private final DB db;
        private BTreeMap<Long, byte[]> map;

        Records(Setup setup) {
            this.data = setup.data();
            file = setup.directory().resolve("mapdb");
            db = DBMaker.fileDB(file.toFile())
                    .fileMmapEnable()
                    .allocateStartSize(data.bytes())
                    .make();
        }

        @Override
        public void load() {
            DB.TreeMapSink<Long, byte[]> sink =
                    db.treeMap(NAME, Serializer.LONG, Serializer.BYTE_ARRAY).createFromSink();
            for (long key = 0; key < data.records(); key++) {
                sink.put(key, value(key));
            }
            map = sink.create();
        }

        private byte[] value(long key) {
            byte[] value = new byte[data.valueBytes()];
            data.fill(MemorySegment.ofArray(value), 0, key);
            return value;
        }

        @Override
        public ContestantClient open(ClientCounts tally) {
            return new MapDbClient(tally);
        }

        @Override
        public Facts facts() {
            return new Facts(0, 0, 0, "mapped", "file, page cache", false);
        }

        /** What it has of its file in memory so far. */
        @Override
        public Means means() {
            return Means.single(MappedMemory.residentBytes(file));
        }

        @Override
        public void close() {
            db.close();
        }

        private final class MapDbClient implements ContestantClient {

            private final ClientCounts tally;

            MapDbClient(ClientCounts tally) {
                this.tally = tally;
            }

            @Override
            public void run(OperationGroup group) {
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    long from = group.timed(i) ? System.nanoTime() : 0;
                    boolean right = operate(group.kinds[i], group.keys[i]);
                    tally.end(right);
                    if (from != 0) {
                        tally.took(System.nanoTime() - from);
                    }
                }
            }

            private boolean operate(byte kind, long key) {
                return switch (kind) {
                    case OperationGroup.READ -> matches(map.get(key), key);
                    case OperationGroup.MODIFY -> matches(map.computeIfPresent(key, (ignored, old) -> old), key);
                    default -> {
                        map.put(key, value(key));
                        yield true;
                    }
                };
            }

            private boolean matches(byte[] value, long key) {
                return value != null
                        && value.length == data.valueBytes()
                        && data.matches(MemorySegment.ofArray(value), 0, key);
            }

            @Override
            public void close() {}
        }
    }
}
