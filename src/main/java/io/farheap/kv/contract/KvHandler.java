package io.farheap.kv.contract;

import java.lang.foreign.MemorySegment;

/** Takes requests that have ended, in the order in which they were made, on the thread that polls. */
@FunctionalInterface
public interface KvHandler {

    /**
     * May make requests, and may not poll or wait.
     *
     * @param tag as it was given with the request
     * @param status one of {@link KvStatus}
     * @param memory has the value that a get has found, until this returns
     * @param at where the value begins in it, a multiple of 8
     * @param bytes of the value; 0 where there is none
     */
    void completed(long tag, int status, MemorySegment memory, long at, int bytes);
}
