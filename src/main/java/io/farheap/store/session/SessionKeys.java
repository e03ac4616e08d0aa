package io.farheap.store.session;

import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Checks the keys that a session is given in memory, and holds a copy of the current operation's key. */
public final class SessionKeys {

    private final OperationKey key;
    private final boolean words;
    private final int maxBytes;
    /** Freed by the garbage collector, so never while an operation uses it. */
    private final Arena arena = Arena.ofAuto();

    private final long copy;

    /** @param key which is set to each key */
    public SessionKeys(OperationKey key, RecordLayout layout, int maxBytes) {
        this.key = key;
        this.words = layout == RecordLayout.COMPACT;
        this.maxBytes = maxBytes;
        this.copy = arena.allocate(room(), Long.BYTES).address();
    }

    /** @throws IllegalArgumentException if the store cannot have keys of that length */
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

    /** Makes a key that has passed {@link #check} the key of the operation. */
    public void use(MemorySegment given, long offset, int bytes) {
        key.use(given, offset, bytes, copy);
    }
}
