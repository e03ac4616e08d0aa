package io.farheap.bench.peers;

import io.farheap.bench.ycsb.ClientCounts;
import io.farheap.bench.ycsb.Contestant;
import io.farheap.bench.ycsb.ContestantClient;
import io.farheap.bench.ycsb.ContestantProvider;
import io.farheap.bench.ycsb.DataSet;
import io.farheap.bench.ycsb.OperationGroup;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import net.rubyeye.xmemcached.MemcachedClient;

/** memcached as far memory: all records are there, and each group's reads are one request for many keys. */
public final class MemcachedRecords implements ContestantProvider {

    /** Of a record beside key and value, and of its place in a table. */
    private static final int ITEM_BYTES = 96;

    private static final int TIMEOUT_MILLIS = 30_000;
    /** The client takes 40,000 and no more. */
    private static final int UNANSWERED = 10_000;

    @Override
    public List<String> names() {
        return List.of("memcached");
    }

    @Override
    public Contestant open(String name, Setup setup) throws Exception {
        DataSet data = setup.data();
        // Twice, so that it evicts none.
        long megabytes = 64 + 2 * data.records() * (ITEM_BYTES + data.valueBytes()) >> 20;
        return new Records(data, MemcachedServer.start(setup.directory(), Math.max(128, megabytes)));
    }

    private record Records(DataSet data, MemcachedServer server) implements Contestant {

        @Override
        public void load() throws Exception {
            MemcachedClient client = server.connect();
            client.setOpTimeout(TIMEOUT_MILLIS);
            try {
                for (long key = 0; key < data.records(); key++) {
                    client.setWithNoReply(name(key), 0, value(key));
                    if (key % UNANSWERED == 0 || key == data.records() - 1) {
                        // It answers behind all that came before.
                        while (client.get(name(key)) == null) {
                            Thread.onSpinWait();
                        }
                    }
                }
            } finally {
                client.shutdown();
            }
        }

        private static String name(long key) {
            return Long.toString(key);
        }

        private byte[] value(long key) {
            byte[] value = new byte[data.valueBytes()];
            data.fill(MemorySegment.ofArray(value), 0, key);
            return value;
        }

        @Override
        public ContestantClient open(ClientCounts tally) throws Exception {
            MemcachedClient client = server.connect();
            client.setOpTimeout(TIMEOUT_MILLIS);
            return new GroupClient(tally, client);
        }

        @Override
        public int otherCores() {
            return 1;
        }

        @Override
        public Facts facts() {
            return new Facts(0, 1, 0, "pipelined", "memcached (XMemcached)", true);
        }

        @Override
        public Means means() {
            return Means.grouped(0);
        }

        @Override
        public void close() throws Exception {
            server.close();
        }

        private final class GroupClient implements ContestantClient {

            private final ClientCounts tally;
            private final MemcachedClient client;
            private final List<String> names = new ArrayList<>();

            GroupClient(ClientCounts tally, MemcachedClient client) {
                this.tally = tally;
                this.client = client;
            }

            @Override
            public void run(OperationGroup group) throws Exception {
                long from = System.nanoTime();
                names.clear();
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    if (group.kinds[i] == OperationGroup.READ || group.kinds[i] == OperationGroup.MODIFY) {
                        names.add(name(group.keys[i]));
                    }
                }
                Map<String, byte[]> found = names.isEmpty() ? Map.of() : client.get(names);
                for (int i = 0; i < OperationGroup.SIZE; i++) {
                    String name = name(group.keys[i]);
                    boolean right = true;
                    if (group.kinds[i] == OperationGroup.READ || group.kinds[i] == OperationGroup.MODIFY) {
                        byte[] bytes = found.get(name);
                        right = bytes != null && data.matches(MemorySegment.ofArray(bytes), 0, group.keys[i]);
                    }
                    if (group.kinds[i] != OperationGroup.READ) {
                        client.set(name, 0, value(group.keys[i]));
                    }
                    tally.end(right);
                    if (group.timed(i)) {
                        tally.took(System.nanoTime() - from);
                    }
                }
            }

            @Override
            public void close() throws Exception {
                client.shutdown();
            }
        }
    }
}
