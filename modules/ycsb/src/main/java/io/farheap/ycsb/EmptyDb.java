package io.farheap.ycsb;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/** A database that does nothing and succeeds at once: a run with it measures YCSB's client. */
public final class EmptyDb extends DB {

    @Override
    public Status read(String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
        return Status.OK;
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
        return Status.OK;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return Status.OK;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return Status.OK;
    }

    @Override
    public Status delete(String table, String key) {
        return Status.OK;
    }
}
