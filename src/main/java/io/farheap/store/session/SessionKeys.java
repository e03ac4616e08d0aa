package io.farheap.store.session;

import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The keys that a session is given in memory: what they may be, and room for a copy of the one that it is at. */
public final class SessionKeys {

    private final OperationKey key;
    private final boolean words;
    private final int maxBytes;
    /** Nobody frees it under an operation. */
    private final Arena arena = Arena.ofAuto();

    private final long copy;

    /** @param key which they become */
    public SessionKeys(OperationKey key, RecordLayout layout, int maxBytes) {
        this.key = key;
        this.words = layout == RecordLayout.COMPACT;
        this.maxBytes = maxBytes;
        this.copy = arena.allocate(room(), Long.BYTES).address();
    }

    /** @throws IllegalArgumentException where the store has no keys of so many bytes */
    public void check(int bytes) {
        if (words && bytes != Long.BYTES) {
            throw new IllegalArgumentException("a key of " + bytes
                    + " bytes; this store has keys of 8 bytes: create it for others (FarStoreBuilder.records)");
        }
        if (bytes < 1 || bytes > maxBytes) {
            throw new IllegalArgumentException("a key of " + bytes + " bytes; this store has keys of 1 to " + maxBytes
                    + ": create it for longer ones");
        }
    }

    /** Bytes that a copy of a key may take. */
    long room() {
        return RecordLayout.padded(maxBytes);
    }

    /** Makes one that passed the check the key of the operation. */
    public void use(MemorySegment given, long offset, int bytes) {
        key.use(given, offset, bytes, copy);
    }
}
