package io.farheap.kv.contract;

import java.lang.foreign.MemorySegment;

/** Receives the outcomes of requests, in the order in which the requests were made, on the thread that polls. */
@FunctionalInterface
public interface KvHandler {

    /**
     * A request has ended. This method may make requests, but must not poll or wait.
     *
     * @param tag that was passed with the request
     * @param status one of {@link KvStatus}
     * @param memory holds the value that a get has found, or the sum of an increment, until this method returns
     * @param at offset in {@code memory} at which the value begins, a multiple of 8
     * @param bytes of the value; 0 if there is none
     */
    void completed(long tag, int status, MemorySegment memory, long at, int bytes);
}
