package io.farheap.rpc;

/**
 * An operation that clients call on a server. One instance serves all server threads and all clients, so it must be
 * thread-safe, unless {@link #onThread} returns another one for each thread.
 *
 * <p>It runs on a server thread, between two looks at message rings: the calls of other clients wait for it, and so do
 * threads that grant or free memory. It must be short (a microsecond or two) and must not block; an operation that
 * takes longer {@linkplain Reply#later answers later}, from a thread of its own.
 */
@FunctionalInterface
public interface RpcHandler {

    /** Returned by {@link #execute} if the call is answered later, after {@link Reply#later}. */
    int LATER = -1;

    /** Returned by {@link #touch} if the call needs no word of the regions. */
    int NOWHERE = -1;

    /**
     * The handler that executes the calls which arrive over the rings of the calling server thread. Each thread asks
     * before it executes calls of this operation, and again from time to time. The default is this handler.
     */
    default RpcHandler onThread() {
        return this;
    }

    /**
     * Names a word of the server's memory that {@link #execute} will need. The server calls it for all calls of a batch
     * before it executes the first, and then loads these words, so that the cache misses of many calls overlap. It
     * changes nothing, with one exception: a handler whose calls may overtake each other may begin this one, which this
     * thread executes next, after the earlier calls of its batch.
     *
     * @return an offset as {@link HeldRegions#place} gives it, or {@link #NOWHERE}
     */
    default long touch(HeldRegions held, Arguments arguments) {
        return NOWHERE;
    }

    /**
     * Executes a call. An exception ends this call alone, as failed; its changes so far stay.
     *
     * @param held the caller's regions
     * @param arguments a copy that no client can change, valid until this returns
     * @param reply filled from offset 0 on, valid until this returns
     * @return the length of the reply, 0 to {@link Reply#capacity}; or {@link #LATER}
     */
    int execute(HeldRegions held, Arguments arguments, Reply reply);

    /**
     * Called when the calls of a batch have been executed that the server executes without looking at another ring. The
     * default does nothing.
     */
    default void executed() {}
}
