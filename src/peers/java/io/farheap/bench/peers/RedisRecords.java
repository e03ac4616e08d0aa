package io.farheap.bench.peers;

import io.farheap.bench.ycsb.ClientCounts;
import io.farheap.bench.ycsb.Contestant;
import io.farheap.bench.ycsb.ContestantClient;
import io.farheap.bench.ycsb.ContestantProvider;
import io.farheap.bench.ycsb.DataSet;
import io.farheap.bench.ycsb.OperationGroup;
import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.ByteArrayCodec;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/**
 * Redis as far memory over a Unix socket: all records are there. Each group is a pipeline of requests, or if all of it
 * are reads one MGET.
 */
public final class RedisRecords implements ContestantProvider {

    private static final String PIPELINED = "redis";
    private static final String MGET = "redis-mget";
    private static final int LOAD_BATCH = 512;

    @Override
    public List<String> names() {
        return List.of(PIPELINED, MGET);
    }

    @Override
    public Contestant open(String name, Setup setup) throws Exception {
        return new Records(setup.data(), RedisServer.start(setup.directory()), name.equals(MGET));
    }

    private record Records(DataSet data, RedisServer server, boolean mget) implements Contestant {

        @Override
        public void load() {
            try (StatefulRedisConnection<byte[], byte[]> connection =
                    server.client().connect(ByteArrayCodec.INSTANCE)) {
                long key = 0;
                while (key < data.records()) {
                    long end = Math.min(data.records(), key + LOAD_BATCH);
                    Map<byte[], byte[]> batch = new HashMap<>();
                    for (; key < end; key++) {
                        batch.put(KeyBytes.of(key), value(key));
                    }
                    connection.sync().mset(batch);
                }
            }
        }

        private byte[] value(long key) {
            byte[] value = new byte[data.valueBytes()];
            data.fill(MemorySegment.ofArray(value), 0, key);
            return value;
        }

        @Override
        public ContestantClient open(ClientCounts tally) {
            return new RedisClient(tally, server.client().connect(ByteArrayCodec.INSTANCE));
        }

        @Override
        public int otherCores() {
            return 1;
        }

        @Override
        public Facts facts() {
            return new Facts(0, 1, 0, mget ? "MGET" : "pipelined", "Redis (Lettuce)", true);
        }

        @Override
        public Means means() {
            return Means.grouped(0);
        }

        @Override
        public void close() throws Exception {
            server.close();
        }

        private final class RedisClient implements ContestantClient {

            private final ClientCounts tally;
            private final StatefulRedisConnection<byte[], byte[]> connection;
            private final RedisAsyncCommands<byte[], byte[]> commands;
            private final RedisFuture<?>[] answers = new RedisFuture<?>[OperationGroup.SIZE];
            private final byte[][] keys = new byte[OperationGroup.SIZE][];

            RedisClient(ClientCounts tally, StatefulRedisConnection<byte[], byte[]> connection) {
                this.tally = tally;
                this.connection = connection;
                commands = connection.async();
                connection.setAutoFlushCommands(false);
            }

            @Override
            public void run(OperationGroup group) throws ExecutionException, InterruptedException {
                if (mget && group.readsOnly()) {
                    readAll(group);
                    return;
                }
                long from = System.nanoTime();
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    byte[] key = KeyBytes.of(group.keys[i]);
                    answers[i] = group.kinds[i] == OperationGroup.READ || group.kinds[i] == OperationGroup.MODIFY
                            ? commands.get(key)
                            : commands.set(key, value(group.keys[i]));
                }
                connection.flushCommands();
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    Object answer = answers[i].get();
                    boolean right = answer instanceof String
                            || answer instanceof byte[] bytes
                                    && data.matches(MemorySegment.ofArray(bytes), 0, group.keys[i]);
                    tally.end(right);
                    if (group.timed(i)) {
                        tally.took(System.nanoTime() - from);
                    }
                }
                writeBack(group);
            }

            private void readAll(OperationGroup group) throws ExecutionException, InterruptedException {
                long from = System.nanoTime();
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    keys[i] = KeyBytes.of(group.keys[i]);
                }
                RedisFuture<List<KeyValue<byte[], byte[]>>> answer = commands.mget(keys);
                connection.flushCommands();
                List<KeyValue<byte[], byte[]>> found = answer.get();
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    KeyValue<byte[], byte[]> pair = found.get(i);
                    tally.end(
                            pair.hasValue() && data.matches(MemorySegment.ofArray(pair.getValue()), 0, group.keys[i]));
                    if (group.timed(i)) {
                        tally.took(System.nanoTime() - from);
                    }
                }
            }

            /** Writes the values back that were read to be modified. */
            private void writeBack(OperationGroup group) throws ExecutionException, InterruptedException {
                RedisFuture<?> last = null;
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    if (group.kinds[i] == OperationGroup.MODIFY) {
                        last = commands.set(KeyBytes.of(group.keys[i]), value(group.keys[i]));
                    }
                }
                if (last != null) {
                    connection.flushCommands();
                    last.get();
                }
            }

            @Override
            public void close() {
                connection.close();
            }
        }
    }
}
