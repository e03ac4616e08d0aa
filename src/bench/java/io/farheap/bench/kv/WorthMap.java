package io.farheap.bench.kv;

import io.farheap.bench.kv.worth.FarTable;
import io.farheap.bench.kv.worth.FarTableClient;
import io.farheap.bench.kv.worth.MapDesign;
import io.farheap.bench.ycsb.YcsbKeys;
import io.farheap.command.ServerProcess;
import io.farheap.kv.FarMap;
import io.farheap.remote.contract.VerbCounts;

/** One of the maps that {@link WorthPart} compares: the benchmark's own, or the library's. */
interface WorthMap extends AutoCloseable {

    /** Factor of the table's size if all keys have room: with it no key is evicted because its bucket is full. */
    int SPARSE = 4;

    /** Opens a client that gets Zipfian keys, and inserts missing ones. */
    ClosedLoop.LoopClient open(YcsbKeys keys);

    /** Throws if the clients have left the map in an invalid state. */
    default void check() {}

    @Override
    void close();

    /** Creates one of the benchmark's own maps, filled with all objects that it has room for. */
    static WorthMap own(ServerProcess server, MapDesign design, long objects, boolean sparse, int valueBytes) {
        long tableObjects = sparse ? SPARSE * objects : objects;
        FarTable table = new FarTable(server.address(), design, tableObjects, objects, valueBytes);
        try (FarTableClient filling = table.openClient()) {
            for (long key = 0; key < objects; key++) {
                filling.begin(key);
                while (!filling.ended()) {
                    Thread.onSpinWait();
                }
            }
        } catch (Throwable e) {
            table.close();
            throw e;
        }
        return new WorthMap() {
            @Override
            public ClosedLoop.LoopClient open(YcsbKeys keys) {
                return new OwnClient(table.openClient(), keys);
            }

            @Override
            public void check() {
                if (design.kind() == MapDesign.Kind.LISTS) {
                    table.checkLists();
                }
            }

            @Override
            public void close() {
                table.close();
            }
        };
    }

    /** Wraps one of the library's maps, filled. */
    static WorthMap library(FarMap map, long objects, int valueBytes) {
        BenchMaps.fill(map, objects, valueBytes);
        return new WorthMap() {
            @Override
            public ClosedLoop.LoopClient open(YcsbKeys keys) {
                return new LibraryClient(map, valueBytes, keys);
            }

            @Override
            public void close() {
                map.drop();
            }
        };
    }

    /** A client of the benchmark's own map. */
    final class OwnClient implements ClosedLoop.LoopClient {

        private final FarTableClient client;
        private final YcsbKeys keys;
        private long gets;

        OwnClient(FarTableClient client, YcsbKeys keys) {
            this.client = client;
            this.keys = keys;
        }

        @Override
        public void begin() {
            gets++;
            client.begin(keys.zipfian());
        }

        @Override
        public boolean ended() {
            return client.ended();
        }

        @Override
        public VerbCounts posted() {
            return client.posted();
        }

        @Override
        public long gets() {
            return gets;
        }

        @Override
        public long absent() {
            return client.absent();
        }

        @Override
        public void close() {
            client.close();
        }
    }

    /** A session of the library's map: a get and, if it misses, a set count as one request. */
    final class LibraryClient extends MapClient {

        private final YcsbKeys keys;
        private long key;
        private long missed;

        LibraryClient(FarMap map, int valueBytes, YcsbKeys keys) {
            super(map, valueBytes);
            this.keys = keys;
        }

        @Override
        public void begin() {
            key = keys.zipfian();
            missed = absent();
            get(key);
        }

        @Override
        public boolean ended() {
            if (!super.ended()) {
                return false;
            }
            if (absent() == missed) {
                return true;
            }
            missed = absent();
            caller.beginSet(key);
            return super.ended();
        }
    }
}
