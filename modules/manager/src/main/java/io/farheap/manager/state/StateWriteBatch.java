package io.farheap.manager.state;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.jspecify.annotations.Nullable;

/** Changes as the new content of paths; each path is in it once. */
final class StateWriteBatch {

    /**
     * A part of ZooKeeper's limit, which is 1,048,575 bytes for a whole request; the rest is for checks and headers.
     */
    private static final int LIMIT_BYTES = 1_000_000;
    /** Bytes of one operation beside its path and data, and some more. */
    private static final int OVERHEAD_BYTES = 100;

    /** By path; null: the node is removed. */
    private final Map<String, byte @Nullable []> values = new LinkedHashMap<>();

    private long bytes;

    /** @throws StateException if they are too large for one write */
    StateWriteBatch(List<StateChange> changes) {
        for (StateChange change : changes) {
            switch (change) {
                case StateChange.PutServer put ->
                    values.put(NodePaths.server(put.server().id()), RecordFormat.encode(put.server()));
                case StateChange.RemoveServer remove -> values.put(NodePaths.server(remove.id()), null);
                case StateChange.PutCache put ->
                    values.put(NodePaths.cache(put.cache().id()), RecordFormat.encode(put.cache()));
                case StateChange.PutMenu put ->
                    values.put(NodePaths.MENU, put.text().getBytes(StandardCharsets.UTF_8));
                case StateChange.PutModel put ->
                    values.put(
                            NodePaths.model(put.model().key()),
                            put.model().text().getBytes(StandardCharsets.UTF_8));
                case StateChange.RemoveModel remove -> values.put(NodePaths.model(remove.key()), null);
                case StateChange.PutTenant put ->
                    values.put(NodePaths.tenant(put.tenant().name()), RecordFormat.encode(put.tenant()));
                case StateChange.PutLife put ->
                    values.put(NodePaths.life(put.life().type()), RecordFormat.encode(put.life()));
                case StateChange.RemoveTenant remove -> values.put(NodePaths.tenant(remove.name()), null);
                case StateChange.RemoveCache remove -> values.put(NodePaths.cache(remove.id()), null);
            }
        }
        for (Map.Entry<String, byte @Nullable []> value : values.entrySet()) {
            bytes += bytes(value.getKey(), value.getValue());
        }
        if (bytes > LIMIT_BYTES) {
            throw new StateException("the changes of " + values.size() + " records are " + bytes
                    + " bytes, and one write has at most " + LIMIT_BYTES + ": split them. Nothing was written");
        }
    }

    /** Creates an empty batch. */
    StateWriteBatch() {}

    /** @return false, without a change, if the batch is too full for it */
    boolean add(String path, byte @Nullable [] data) {
        long more = bytes(path, data);
        if (!values.isEmpty() && bytes + more > LIMIT_BYTES) {
            return false;
        }
        values.put(path, data);
        bytes += more;
        return true;
    }

    private static long bytes(String path, byte @Nullable [] data) {
        return (long) OVERHEAD_BYTES + path.length() + (data == null ? 0 : data.length);
    }

    /**
     * Returns the operations of the write. Creation, replacement and deletion are different operations: it looks first
     * which nodes exist, if that is unknown.
     */
    List<CuratorOp> operations(CuratorFramework client, PipelinedReads reads, KnownNodes nodes) throws Exception {
        Set<String> there = there(reads, nodes);
        List<CuratorOp> operations = new ArrayList<>(values.size());
        for (Map.Entry<String, byte @Nullable []> value : values.entrySet()) {
            String path = value.getKey();
            byte[] data = value.getValue();
            if (data == null) {
                if (there.contains(path)) {
                    operations.add(client.transactionOp().delete().forPath(path));
                }
            } else if (there.contains(path)) {
                operations.add(client.transactionOp().setData().forPath(path, data));
            } else {
                operations.add(client.transactionOp().create().forPath(path, data));
            }
        }
        return operations;
    }

    private Set<String> there(PipelinedReads reads, KnownNodes nodes) throws Exception {
        Set<String> there = new HashSet<>();
        if (nodes.known()) {
            values.keySet().stream().filter(nodes::has).forEach(there::add);
            return there;
        }
        List<String> paths = List.copyOf(values.keySet());
        List<byte @Nullable []> data = reads.data(paths);
        for (int i = 0; i < paths.size(); i++) {
            if (data.get(i) != null) {
                there.add(paths.get(i));
            }
        }
        return there;
    }

    /** Called after all of it has been written. */
    void happened(KnownNodes nodes) {
        values.forEach((path, data) -> nodes.change(path, data != null));
    }
}
