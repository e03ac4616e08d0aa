package io.farheap.cli;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import java.lang.foreign.MemorySegment;

/** Reads a cache from its first byte on, in order, some parts ahead. */
final class CacheReader implements AutoCloseable {

    interface PartReader {
        /** @param bytes valid during the call */
        void read(long address, MemorySegment bytes);
    }

    private static final int PART_BYTES = 1 << 20;
    private static final int PARTS = 4;

    private final CacheSession session;
    private final Buffer buffer;
    private long done;
    private int failure = Status.OK;
    private final Completion onPart = (token, status) -> {
        done++;
        if (status != Status.OK) {
            failure = status;
        }
    };

    CacheReader(Cache cache) {
        this.session = cache.openSession();
        this.buffer = cache.allocate((long) PARTS * PART_BYTES);
    }

    void read(long bytes, PartReader consumer) {
        done = 0;
        long parts = (bytes + PART_BYTES - 1) / PART_BYTES;
        long issued = 0;
        for (long part = 0; part < parts; part++) {
            while (issued < parts && issued < part + PARTS) {
                issue(issued++, bytes);
            }
            // Callbacks come in the order of issue, so their number says which parts have arrived.
            while (done <= part) {
                session.awaitProgress();
            }
            if (failure != Status.OK) {
                throw new CacheException("cannot read the cache back: " + Status.describe(failure), failure);
            }
            consumer.read(part * PART_BYTES, buffer.segment().asSlice(offset(part), length(part, bytes)));
        }
    }

    @Override
    public void close() {
        session.close();
        buffer.close();
    }

    private void issue(long part, long bytes) {
        while (!session.read(part * PART_BYTES, buffer, offset(part), length(part, bytes), onPart, part)) {
            session.awaitProgress();
        }
    }

    private static long offset(long part) {
        return part % PARTS * PART_BYTES;
    }

    private static long length(long part, long bytes) {
        return Math.min(PART_BYTES, bytes - part * PART_BYTES);
    }
}
