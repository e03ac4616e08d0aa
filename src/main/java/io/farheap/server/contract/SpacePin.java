package io.farheap.server.contract;

/** Keeps a space's memory from being given to another client, even if the space ends in the meantime. */
public interface SpacePin extends AutoCloseable {

    ServedSpace space();

    /** Whether the space has ended; its end waits until this pin is closed. */
    boolean ended();

    /** Idempotent. */
    @Override
    void close();
}
