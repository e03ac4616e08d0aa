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
    /** The key itself if it has 8 bytes, otherwise its address. */
    private final long[] words;

    private final int[] lengths;
    /** Freed by the garbage collector, so never while an operation uses it. */
    private final Arena arena = Arena.ofAuto();
    /** The address of copies of a group's keys; 0 until a key without 8 bytes was given. */
    private long copies;

    /**
     * @param key which is set to each of the keys in turn
     * @param checks which lengths a key may have
     * @param most how many keys a group may have
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

    /** @param ends the end of each key, exclusive; the next key begins there */
    void take(MemorySegment keys, int[] ends, int from, int count) {
        int begin = from == 0 ? 0 : ends[from - 1];
        for (int i = 0; i < count; i++) {
            int end = ends[from + i];
            int length = end - begin;
            // Check again: a callback of the previous group may have changed the ends.
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

    /** Makes one of the keys the key of the operation. */
    void use(int place) {
        key.use(words[place], lengths[place], hashes[place]);
    }
}
