package io.farheap.kv.operation;

import io.farheap.kv.contract.KvStatus;

/** Ends requests. */
public interface RequestSink {

    /**
     * Ends a request.
     *
     * @param status one of {@link KvStatus}
     */
    void end(int place, int status);
}
