package io.farheap.kv.leased.server;

import io.farheap.kv.contract.KvStatus;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The last call of each place of a session, and its answer, so that a call which is sent again is carried out once. A
 * place has one call at a time, and a call sent again is of the same key, so one shard's thread after another has it.
 */
final class RepeatableCalls {

    private static final int CHUNK = 16;
    private static final int WORDS = 4;
    // The words of a place.
    private static final int COUNT = 0;
    private static final int STATUS = 1;
    private static final int VERSION = 2;
    private static final int SUM = 3;
    /** In place of a status. */
    private static final int BEGUN = -1;

    /** The session as its process names it. */
    final long session;

    private final AtomicReferenceArray<long @Nullable []> chunks;

    /** @param places how many it may have, a multiple of 16 */
    RepeatableCalls(long session, int places) {
        this.session = session;
        chunks = new AtomicReferenceArray<>(places / CHUNK);
    }

    /** Whether a place has memory; {@link #take} gives it some. */
    boolean has(int place) {
        return chunks.get(place / CHUNK) != null;
    }

    void take(int place) {
        chunks.compareAndSet(place / CHUNK, null, new long[CHUNK * WORDS]);
    }

    /** How many places have memory. */
    int places() {
        int count = 0;
        for (int i = 0; i < chunks.length(); i++) {
            count += chunks.get(i) == null ? 0 : CHUNK;
        }
        return count;
    }

    private long[] chunk(int place) {
        long[] chunk = chunks.get(place / CHUNK);
        if (chunk == null) {
            throw new IllegalStateException("place " + place + " of a session has no memory");
        }
        return chunk;
    }

    /**
     * A call comes.
     *
     * @param count of the calls of its place, with this one
     * @return whether it is to be carried out; else {@link #answer} has its answer
     */
    boolean begin(int place, long count) {
        long[] chunk = chunk(place);
        int at = place % CHUNK * WORDS;
        if (count <= chunk[at + COUNT]) {
            return false;
        }
        chunk[at + STATUS] = BEGUN;
        chunk[at + COUNT] = count;
        return true;
    }

    /** Whether a call is later than all that its place has had, so that it will be carried out. */
    boolean isNew(int place, long count) {
        return count > chunk(place)[place % CHUNK * WORDS + COUNT];
    }

    /** A call has been carried out. @param sum of an increment */
    void end(int place, long count, ShardAnswer answer, long sum) {
        long[] chunk = chunk(place);
        int at = place % CHUNK * WORDS;
        if (chunk[at + COUNT] != count) {
            // The client has given it up, and its place has another one.
            return;
        }
        chunk[at + VERSION] = answer.version;
        chunk[at + SUM] = sum;
        chunk[at + STATUS] = answer.status;
    }

    /**
     * The answer of a call that came before: as it was, but without a pointer. If it has not ended, or is not the last
     * of its place, it is lost.
     *
     * @return the sum, of an increment
     */
    long answer(int place, long count, ShardAnswer into) {
        long[] chunk = chunk(place);
        int at = place % CHUNK * WORDS;
        boolean ended = chunk[at + COUNT] == count && chunk[at + STATUS] != BEGUN;
        into.clear(ended ? (int) chunk[at + STATUS] : KvStatus.LOST);
        into.version = ended ? chunk[at + VERSION] : 0;
        return chunk[at + SUM];
    }
}
