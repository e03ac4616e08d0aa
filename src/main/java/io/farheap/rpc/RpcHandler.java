package io.farheap.rpc;

/**
 * An operation that clients call on a server. One instance serves all server threads and all clients, so it is
 * thread-safe, unless it has others for {@linkplain #onThread each thread}.
 *
 * <p>It runs on a server thread, between one look at a message ring and the next: other clients' calls wait for it, and
 * so does whoever grants or frees memory. It must be short (a microsecond or two) and must not block; what takes longer
 * answers {@linkplain Reply#later later}, from a thread of its own.
 */
@FunctionalInterface
public interface RpcHandler {

    /** What {@link #execute} returns that answers later, after {@link Reply#later}. */
    int LATER = -1;

    /** What {@link #touch} returns that needs nothing of the regions. */
    int NOWHERE = -1;

    /**
     * Who executes the calls that come over the rings of the calling server thread: asked on each thread, before it
     * executes calls of this operation, and now and then again. By default this one.
     */
    default RpcHandler onThread() {
        return this;
    }

    /**
     * Says where a word is that {@link #execute} will need. It is called for all calls of a batch before the first is
     * executed, then the server loads these words, so that the cache misses of many calls overlap instead of following
     * one another. It changes nothing, but that a handler whose calls may overtake each other may begin this one: it is
     * executed next of all on this thread, after those of its batch.
     *
     * @return as {@link HeldRegions#place} says, or {@link #NOWHERE}
     */
    default long touch(HeldRegions held, Arguments arguments) {
        return NOWHERE;
    }

    /**
     * Executes a call. An exception ends this call alone, as failed; what it has changed before stays.
     *
     * @param held the caller's regions
     * @param arguments a copy of its own, which no client changes; gone when this returns
     * @param reply to be filled from 0 on; gone when this returns
     * @return the reply's bytes, 0 to {@link Reply#capacity}; or {@link #LATER}
     */
    int execute(HeldRegions held, Arguments arguments, Reply reply);
}
