package io.farheap.kv.leased.server;

import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.PendingCall;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A call on its way from the thread that has received it to the thread of its shard, and back, empty, to be used again.
 * It belongs to the thread that has it; {@link HandedCalls} hands it over.
 */
final class HandedCall {

    /** Takes it back, empty. */
    final Consumer<HandedCall> home;

    int operation;
    long lease;
    long space;
    int shard;
    long hash;
    /** The caller's regions, if one of them has the value. */
    @Nullable
    HeldRegions held;
    /** Of its session; null if the call changes nothing. */
    @Nullable
    RepeatableCalls calls;

    private byte[] bytes = new byte[0];
    MemorySegment request = MemorySegment.ofArray(bytes);

    /** Null of a report that was written, which has no answer. */
    @Nullable
    PendingCall pending;

    boolean written;

    /** The value, as far as it was copied, if it needs pieces. */
    final ShardPieces pieces = new ShardPieces();

    @Nullable
    HandedCall next;

    HandedCall(Consumer<HandedCall> home) {
        this.home = home;
    }

    void copy(MemorySegment from, long at, int length) {
        if (bytes.length < length) {
            bytes = new byte[length];
            request = MemorySegment.ofArray(bytes);
        }
        MemorySegment.copy(from, at, request, 0, length);
    }
}
