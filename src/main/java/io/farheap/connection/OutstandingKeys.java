package io.farheap.connection;

import io.farheap.verbs.SendRequests;
import java.util.function.IntToLongFunction;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Under which keys the operations of a connection that have not been taken use memory. The owner's thread, or one that
 * keeps it out.
 */
public final class OutstandingKeys {

    private final OperationRing ring;
    private final SendRequests requests;
    private final AdoptedOperation adopted;
    private final IntToLongFunction ids;
    private int @Nullable [] localKeys;
    private int @Nullable [] remoteKeys;

    /**
     * @param ids of completions, by their operations' slots; the adopted one's is behind the flush's, behind the ring's
     */
    OutstandingKeys(OperationRing ring, SendRequests requests, AdoptedOperation adopted, IntToLongFunction ids) {
        this.ring = ring;
        this.ids = ids;
        this.requests = requests;
        this.adopted = adopted;
    }

    /** Whether one of them uses local memory that is registered under a key. */
    public boolean local(int key) {
        return adopted.usesLocal(key) || ring.any(slot -> localKey(slot) == key);
    }

    /**
     * Whether one of them that has not ended uses remote memory under a key.
     *
     * @param done accepts the ids of operations that are known to be done; those that were posted before one are, too
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

    /**
     * Nothing is posted any more, and the connection may be closed, which frees the requests, while operations that
     * have ended are not taken yet.
     */
    public void keep() {
        int slots = ring.slots();
        localKeys = new int[slots];
        remoteKeys = new int[slots];
        for (int slot = 0; slot < slots; slot++) {
            localKeys[slot] = requests.localKey(slot);
            remoteKeys[slot] = requests.remoteKey(slot);
        }
    }
}
