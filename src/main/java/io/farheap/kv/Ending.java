package io.farheap.kv;

/** Where requests end. */
interface Ending {

    /** @param status one of {@link KvStatus} */
    void end(int place, int status);
}
