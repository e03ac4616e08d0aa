package io.farheap.kv.operation;

import io.farheap.kv.contract.KvStatus;

/** Where requests end. */
public interface RequestSink {

    /** @param status one of {@link KvStatus} */
    void end(int place, int status);
}
