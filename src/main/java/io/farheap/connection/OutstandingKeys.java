package io.farheap.connection;

import io.farheap.verbs.SendRequests;
import java.util.function.IntToLongFunction;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The memory keys, and the lengths, of a connection's operations that have not been taken. Used by the owner's thread,
 * or by one that keeps it out.
 */
public final class OutstandingKeys {

    private final OperationRing ring;
    private final SendRequests requests;
    private final AdoptedOperation adopted;
    private final IntToLongFunction ids;
    private int @Nullable [] localKeys;
    private int @Nullable [] remoteKeys;
    private int @Nullable [] lengths;

    /**
     * @param ids maps an operation's slot to its completion's id; behind the ring's slots come the flush's and the
     *     adopted operation's
     */
    OutstandingKeys(OperationRing ring, SendRequests requests, AdoptedOperation adopted, IntToLongFunction ids) {
        this.ring = ring;
        this.ids = ids;
        this.requests = requests;
        this.adopted = adopted;
    }

    /** Whether an operation uses local memory that is registered under a key. */
    public boolean local(int key) {
        return adopted.usesLocal(key) || ring.any(slot -> localKey(slot) == key);
    }

    /**
     * Whether an operation that has not ended uses remote memory under a key.
     *
     * @param done accepts the ids of operations that are known to be done; earlier operations are then done too
     */
    public boolean remote(int key, LongPredicate done) {
        int adoptedSlot = ring.slots() + 1;
        return adopted.usesRemote(key) && !done.test(ids.applyAsLong(adoptedSlot))
                || ring.any(slot -> remoteKey(slot) == key)
                        && ring.anyFrom(
                                ring.firstBehind(slot -> done.test(ids.applyAsLong(slot))),
                                slot -> remoteKey(slot) == key);
    }

    private int localKey(int slot) {
        return localKeys == null ? requests.localKey(slot) : localKeys[slot];
    }

    private int remoteKey(int slot) {
        return remoteKeys == null ? requests.remoteKey(slot) : remoteKeys[slot];
    }

    /** How many bytes the operation in a slot of the ring reads or writes. */
    int bytes(int slot) {
        return lengths == null ? requests.bytes(slot) : lengths[slot];
    }

    /**
     * Copies the keys and the lengths: nothing is posted any more, and closing the connection frees the work requests,
     * while some operations that have ended may not have been taken.
     */
    public void keep() {
        int slots = ring.slots();
        localKeys = new int[slots];
        remoteKeys = new int[slots];
        lengths = new int[slots];
        for (int slot = 0; slot < slots; slot++) {
            localKeys[slot] = requests.localKey(slot);
            remoteKeys[slot] = requests.remoteKey(slot);
            lengths[slot] = requests.bytes(slot);
        }
    }
}
