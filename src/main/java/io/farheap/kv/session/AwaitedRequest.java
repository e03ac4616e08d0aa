package io.farheap.kv.session;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import java.lang.foreign.MemorySegment;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Waits for the only request of a session, and keeps its result. The session's thread. */
final class AwaitedRequest {

    private static final int SPINS = 2000;
    private static final long SLEEP_NANOS = 1_000_000;

    private final EngineSession session;
    private final KvHandler handler = this::take;
    private boolean ended;
    private int status;
    private byte @Nullable [] value;
    private long version;

    AwaitedRequest(EngineSession session) {
        this.session = session;
    }

    /** The value that was found; null if there was none. */
    byte @Nullable [] value() {
        return run() == KvStatus.DONE ? value : null;
    }

    @Nullable
    VersionedValue versioned() {
        byte[] found = value();
        return found == null ? null : new VersionedValue(found, version);
    }

    OptionalLong number() {
        byte[] sum = value();
        return sum == null
                ? OptionalLong.empty()
                : OptionalLong.of(MemorySegment.ofArray(sum).get(JAVA_LONG_UNALIGNED, 0));
    }

    boolean done() {
        return run() == KvStatus.DONE;
    }

    /**
     * Waits for the only request.
     *
     * @return its status
     * @throws MapException if it has failed
     */
    int run() {
        ended = false;
        for (int spins = 0; !poll(); spins++) {
            if (spins > SPINS) {
                session.await(SLEEP_NANOS);
            } else {
                Thread.onSpinWait();
            }
        }
        // The caller may not poll again for long.
        for (int spins = 0; !session.settled() && spins < SPINS; spins++) {
            session.poll(handler);
        }
        if (MapException.isOf(status)) {
            throw MapException.of(status, session.trouble());
        }
        return status;
    }

    private boolean poll() {
        session.poll(handler);
        return ended;
    }

    private void take(long tag, int with, MemorySegment found, long at, int bytes) {
        ended = true;
        status = with;
        version = session.version();
        value = null;
        if (with == KvStatus.DONE) {
            byte[] copy = new byte[bytes];
            MemorySegment.copy(found, at, MemorySegment.ofArray(copy), 0, bytes);
            value = copy;
        }
    }
}
