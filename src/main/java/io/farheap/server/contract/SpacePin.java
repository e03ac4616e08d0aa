package io.farheap.server.contract;

/** Keeps a space's memory from being given to others, also where the space ends meanwhile. */
public interface SpacePin extends AutoCloseable {

    ServedSpace space();

    /** Whether the space has ended: what is waiting for this to be closed. */
    boolean ended();

    /** Idempotent. */
    @Override
    void close();
}
