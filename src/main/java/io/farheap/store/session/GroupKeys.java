package io.farheap.store.session;

import io.farheap.store.format.Hashes;
import io.farheap.store.format.OperationKey;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The keys of a group of reads, each hashed once. One thread at a time. */
final class GroupKeys {

    private final OperationKey key;
    private final SessionKeys checks;
    private final long room;
    private final long[] hashes;
    /** Keys of 8 bytes, and where others are. */
    private final long[] words;

    private final int[] lengths;
    /** Nobody frees it under an operation. */
    private final Arena arena = Arena.ofAuto();
    /** Of a group's keys; 0 until there is one that is no word. */
    private long copies;

    /**
     * @param key which they become, one after the other
     * @param checks what each may be
     * @param most of a group
     */
    GroupKeys(OperationKey key, SessionKeys checks, int most) {
        this.key = key;
        this.checks = checks;
        this.room = checks.room();
        this.hashes = new long[most];
        this.words = new long[most];
        this.lengths = new int[most];
    }

    void take(long[] keys, int from, int count) {
        for (int i = 0; i < count; i++) {
            words[i] = keys[from + i];
            lengths[i] = Long.BYTES;
            hashes[i] = Hashes.of(words[i]);
        }
    }

    /** @param ends of keys one behind the other, of each key: behind its last byte */
    void take(MemorySegment keys, int[] ends, int from, int count) {
        int begin = from == 0 ? 0 : ends[from - 1];
        for (int i = 0; i < count; i++) {
            int end = ends[from + i];
            int length = end - begin;
            // Again: a callback of the group before may have stored other ends.
            checks.check(length);
            if (length != Long.BYTES && copies == 0) {
                copies = arena.allocate(room * hashes.length, Long.BYTES).address();
            }
            key.use(keys, begin, length, copies + i * room);
            words[i] = length == Long.BYTES ? key.word : key.memory;
            lengths[i] = length;
            hashes[i] = key.hash;
            begin = end;
        }
    }

    long hash(int place) {
        return hashes[place];
    }

    /** Makes one the key of the operation. */
    void use(int place) {
        key.use(words[place], lengths[place], hashes[place]);
    }
}
