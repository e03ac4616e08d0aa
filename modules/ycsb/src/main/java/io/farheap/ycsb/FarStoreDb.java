package io.farheap.ycsb;

import io.farheap.lifetime.Closeables;
import io.farheap.store.BlockingStoreSession;
import io.farheap.store.StoreSession;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.workloads.CoreWorkload;

/**
 * The binding of YCSB's client to a {@link io.farheap.store.FarStore}: workloads A to D and F. Workload E scans in the
 * order of keys, which a hash index does not keep: it is not implemented. Each of the client's threads has a session;
 * the key in the store is the table's name, a 0, and the key.
 */
public final class FarStoreDb extends DB {

    private static final int USUAL_ROOM = 16 << 10;
    private static final int MOST_ROOM = 1 << 24;
    private static final int KEY_ROOM = 256;

    private @Nullable SharedStore shared;
    private @Nullable StoreSession session;
    private @Nullable BlockingStoreSession blocking;
    private final FieldsUpdate changes = new FieldsUpdate();
    private final MemorySegment key = Arena.ofAuto().allocate(KEY_ROOM, Long.BYTES);
    private MemorySegment value = Arena.ofAuto().allocate(USUAL_ROOM, Long.BYTES);

    @Override
    public void init() throws DBException {
        try {
            SharedStore opened = SharedStore.use(StoreSettings.of(getProperties()));
            shared = opened;
            session = opened.store().openSession();
            blocking = new BlockingStoreSession(session);
            if (Boolean.parseBoolean(getProperties().getProperty(StoreSettings.LOAD, "false"))) {
                opened.loadOnce(this::load);
            }
        } catch (Exception e) {
            Closeables.after(e, this::cleanup);
            throw new DBException("cannot open the store: " + e.getMessage(), e);
        }
    }

    /** Inserts the records that the client's load phase would insert. */
    private void load() throws Exception {
        Properties properties = getProperties();
        CoreWorkload workload = new CoreWorkload();
        workload.init(properties);
        long records = Long.parseLong(properties.getProperty("recordcount", "0"));
        for (long i = 0; i < records; i++) {
            if (!workload.doInsert(this, null)) {
                throw new IllegalStateException("record " + i + " could not be inserted");
            }
        }
        workload.cleanup();
    }

    @Override
    public void cleanup() throws DBException {
        SharedStore used = shared;
        if (used == null) {
            return;
        }
        shared = null;
        try {
            Closeables.all(session);
        } finally {
            used.leave();
        }
    }

    @Override
    public Status read(String table, String name, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
        while (true) {
            try {
                int bytes = session().read(key, 0, useKey(table, name), value, 0, (int) value.byteSize());
                if (bytes < 0) {
                    return Status.NOT_FOUND;
                }
                YcsbFields.decode(value, bytes, fields, result);
                return Status.OK;
            } catch (StoreException e) {
                if (e.status() != StoreStatus.TOO_LONG || value.byteSize() >= MOST_ROOM) {
                    return failed(e);
                }
                value = Arena.ofAuto().allocate(4 * value.byteSize(), Long.BYTES);
            } catch (IllegalArgumentException e) {
                return failed(e);
            }
        }
    }

    // YCSB's interface has these collections.
    @SuppressWarnings({"JdkObsolete", "NonApiType"})
    @Override
    public Status scan(
            String table,
            String startKey,
            int count,
            @Nullable Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return Status.NOT_IMPLEMENTED;
    }

    @Override
    public Status update(String table, String name, Map<String, ByteIterator> values) {
        changes.use(bytes(values));
        return done(() -> session().update(key, 0, useKey(table, name), changes, 0));
    }

    @Override
    public Status insert(String table, String name, Map<String, ByteIterator> values) {
        Map<String, byte[]> fields = bytes(values);
        int bytes = YcsbFields.bytes(fields);
        if (bytes > value.byteSize()) {
            value = Arena.ofAuto().allocate(bytes, Long.BYTES);
        }
        YcsbFields.encode(fields, value);
        return done(() -> {
            session().upsert(key, 0, useKey(table, name), value, 0, bytes);
            return true;
        });
    }

    @Override
    public Status delete(String table, String name) {
        return done(() -> {
            session().delete(key, 0, useKey(table, name));
            return true;
        });
    }

    /** @param operation returns false if there was no such key */
    private static Status done(BooleanSupplier operation) {
        try {
            return operation.getAsBoolean() ? Status.OK : Status.NOT_FOUND;
        } catch (StoreException | IllegalArgumentException e) {
            return failed(e);
        }
    }

    /**
     * Returns a status, which the client counts: an exception would end the client's thread, and the run would still
     * count as good.
     */
    private static Status failed(RuntimeException e) {
        return new Status("ERROR", e.getMessage());
    }

    private BlockingStoreSession session() {
        return Objects.requireNonNull(blocking, "init comes first");
    }

    /**
     * Encodes a key.
     *
     * @return its length
     * @throws IllegalArgumentException if it is too long
     */
    private int useKey(String table, String name) {
        byte[] bytes = (table + '\0' + name).getBytes(StandardCharsets.UTF_8);
        if (bytes.length > KEY_ROOM) {
            throw new IllegalArgumentException(
                    "a key of " + bytes.length + " bytes with its table's name; there may be " + KEY_ROOM);
        }
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, key, 0, bytes.length);
        return bytes.length;
    }

    private static Map<String, byte[]> bytes(Map<String, ByteIterator> values) {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        values.forEach((field, iterator) -> fields.put(field, iterator.toArray()));
        return fields;
    }
}
