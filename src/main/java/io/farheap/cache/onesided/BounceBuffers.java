package io.farheap.cache.onesided;

import io.farheap.memory.MappedFaults;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Registered chunks for the data of segments that are not the cache's buffers, and so are not registered: a write's
 * data are copied into a chunk before the WRITE is posted, a read's data out of it after the READ has completed. Inside
 * the session's gate.
 */
public final class BounceBuffers implements AutoCloseable {

    static final int CHUNK_BYTES = 16 * 1024;
    private static final int CHUNKS = 64;

    private final ProtectionDomain domain;
    /** Null until {@link #prepare}. */
    private @Nullable RegisteredMemory memory;

    private MemorySegment chunks = MemorySegment.NULL;
    private long address;
    private int localKey;
    private final int[] free = new int[CHUNKS];
    private final long[] requestOffsets = new long[CHUNKS];
    private final int[] lengths = new int[CHUNKS];
    private int freeCount;

    public BounceBuffers(ProtectionDomain domain) {
        this.domain = domain;
        for (int chunk = CHUNKS - 1; chunk >= 0; chunk--) {
            free[freeCount++] = chunk;
        }
    }

    boolean isEmpty() {
        return freeCount == 0;
    }

    /** Registers the memory, once; many sessions never need it. */
    void prepare() {
        if (memory == null) {
            memory = RegisteredMemory.allocate(
                    domain, "farheap-bounce", (long) CHUNKS * CHUNK_BYTES, Access.LOCAL_WRITE);
            chunks = memory.segment();
            address = memory.address();
            localKey = memory.localKey();
        }
    }

    /**
     * Takes a chunk for a part of a request. There must be one, and the memory must be {@linkplain #prepare prepared}.
     */
    int take(long requestOffset, int length) {
        int chunk = free[--freeCount];
        requestOffsets[chunk] = requestOffset;
        lengths[chunk] = length;
        return chunk;
    }

    /** @return false if the segment cannot be accessed any more */
    boolean copyIn(int chunk, MemorySegment source) {
        return copy(source, requestOffsets[chunk], chunks, offset(chunk), lengths[chunk]);
    }

    /** @return as {@link #copyIn} */
    boolean copyOut(int chunk, MemorySegment destination) {
        return copy(chunks, offset(chunk), destination, requestOffsets[chunk], lengths[chunk]);
    }

    private static boolean copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, int bytes) {
        try {
            MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
            MappedFaults.raise(from);
            MappedFaults.raise(to);
            return true;
        } catch (IllegalStateException | WrongThreadException | InternalError e) {
            // The JVM throws an InternalError if a mapped file has become shorter.
            return false;
        }
    }

    void give(int chunk) {
        free[freeCount++] = chunk;
    }

    long address(int chunk) {
        return address + offset(chunk);
    }

    int localKey() {
        return localKey;
    }

    private static long offset(int chunk) {
        return (long) chunk * CHUNK_BYTES;
    }

    @Override
    public void close() {
        if (memory != null) {
            memory.close();
        }
    }
}
