package io.farheap.connection;

import io.farheap.verbs.SendRequests;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Under which keys the operations of a connection that have not been taken use memory. The owner's thread, or one that
 * keeps it out.
 */
public final class UsedKeys {

    private final OperationRing ring;
    private final SendRequests requests;
    private final AdoptedOperation adopted;
    private int @Nullable [] localKeys;
    private int @Nullable [] remoteKeys;

    UsedKeys(OperationRing ring, SendRequests requests, AdoptedOperation adopted) {
        this.ring = ring;
        this.requests = requests;
        this.adopted = adopted;
    }

    /** Whether one of them uses local memory that is registered under a key. */
    public boolean local(int key) {
        return adopted.usesLocal(key) || ring.any(slot -> localKey(slot) == key);
    }

    /** Whether one of them uses remote memory under a key. */
    boolean remote(int key) {
        return adopted.usesRemote(key) || ring.any(slot -> remoteKey(slot) == key);
    }

    /**
     * The same, but for those that have ended.
     *
     * @param done whether the operation in a slot is known to be done; those that were posted before it are, too
     * @param adoptedDone the same of the one that was adopted
     */
    boolean remote(int key, IntPredicate done, boolean adoptedDone) {
        return adopted.usesRemote(key) && !adoptedDone
                || ring.anyFrom(ring.firstBehind(done), slot -> remoteKey(slot) == key);
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
