package io.farheap.kv.model;

import java.util.Arrays;

/**
 * A state of the model in some bytes: the bucket and the blocks, which all clients share; the services' era; beliefs
 * about the history of each key; and what each client knows.
 */
final class ModelState {

    static final int MOST_SLOTS = 4;
    static final int MOST_BLOCKS = 4;
    static final int MOST_CLIENTS = 4;
    static final int KEYS = 2;

    /** An era that waits for the far server to leave; that of a segment which begins again is its block, plus 1. */
    static final int LEAVING = MOST_BLOCKS + 1;

    // Of the map: a bit for each free block; what an era waits for; a bit for each client that has begun that era;
    // whether the far server has been taken out; how many clients may still die, and how many eras may still begin;
    // a bit for each client whose lease has ended, and above these one for each that has opened the map again.
    static final int FREE = 12;
    static final int ERA = 13;
    static final int ACKNOWLEDGED = 14;
    static final int LEFT = 15;
    static final int DEATHS = 16;
    static final int ERAS = 17;
    static final int OUT = 18;

    // Of a client: the number of its operation and its step; which words of a READ have come; slot and word of its
    // step; the live word of its new block; the slot that it claims, plus 1; the lowest slot of a delete, plus 1;
    // another slot that it looks at; flags; the word of a late access, and the slot of that, see ClientTurn; the words
    // that it keeps as pointers, by key; the words that it has read; and bits that say what is of an older era: the
    // request in flight, and each pointer.
    static final int OPERATION = 0;
    static final int STEP = 1;
    static final int READ = 2;
    static final int SLOT = 3;
    static final int WORD = 4;
    static final int OWN = 5;
    static final int CLAIMED = 6;
    static final int LOWEST = 7;
    static final int LOOKED = 8;
    static final int FLAGS = 9;
    static final int LATE = 10;
    static final int LATE_SLOT = 11;
    static final int POINTERS = 12;
    static final int COPIES = 14;
    static final int OLD = 18;
    private static final int CLIENT_BYTES = 19;

    private static final int SLOTS = 0;
    private static final int MARKS = 4;
    private static final int BODIES = 8;
    private static final int BELIEFS = 19;
    private static final int BELIEF_BYTES = 3;
    private static final int CLIENTS = BELIEFS + KEYS * BELIEF_BYTES;

    final byte[] bytes;

    ModelState(int clients) {
        bytes = new byte[CLIENTS + clients * CLIENT_BYTES];
    }

    private ModelState(byte[] bytes) {
        this.bytes = bytes;
    }

    ModelState copy() {
        return new ModelState(bytes.clone());
    }

    void become(byte[] other) {
        System.arraycopy(other, 0, bytes, 0, bytes.length);
    }

    int word(int slot) {
        return bytes[SLOTS + slot] & 0xFF;
    }

    void word(int slot, int word) {
        bytes[SLOTS + slot] = (byte) word;
    }

    int mark(int block) {
        return bytes[MARKS + block];
    }

    void mark(int block, int mark) {
        bytes[MARKS + block] = (byte) mark;
    }

    int body(int block) {
        return bytes[BODIES + block] & 0xFF;
    }

    void body(int block, int body) {
        bytes[BODIES + block] = (byte) body;
    }

    /** A field of the map, such as {@link #FREE}. */
    int map(int field) {
        return bytes[field];
    }

    void map(int field, int value) {
        bytes[field] = (byte) value;
    }

    boolean isFree(int block) {
        return (bytes[FREE] >> block & 1) != 0;
    }

    void free(int block, boolean isFree) {
        bytes[FREE] = (byte) (isFree ? bytes[FREE] | 1 << block : bytes[FREE] & ~(1 << block));
    }

    int belief(int key) {
        int at = BELIEFS + key * BELIEF_BYTES;
        return bytes[at] & 0xFF | (bytes[at + 1] & 0xFF) << 8 | (bytes[at + 2] & 0xFF) << 16;
    }

    void belief(int key, int belief) {
        int at = BELIEFS + key * BELIEF_BYTES;
        bytes[at] = (byte) belief;
        bytes[at + 1] = (byte) (belief >> 8);
        bytes[at + 2] = (byte) (belief >> 16);
    }

    /** A field of a client, such as {@link #STEP}. */
    int client(int client, int field) {
        return bytes[CLIENTS + client * CLIENT_BYTES + field] & 0xFF;
    }

    void client(int client, int field, int value) {
        bytes[CLIENTS + client * CLIENT_BYTES + field] = (byte) value;
    }

    /** Clears some fields of a client, so that states that differ in what is not needed any more are one. */
    void clear(int client, int fromField, int fields) {
        int at = CLIENTS + client * CLIENT_BYTES + fromField;
        Arrays.fill(bytes, at, at + fields, (byte) 0);
    }

    /** Forgets all that a client knows but the number of its operation. */
    void clear(int client) {
        clear(client, STEP, CLIENT_BYTES - STEP);
    }

    ModelStep step(int client) {
        return ModelStep.of(client(client, STEP));
    }
}
