package io.farheap.manager.provider;

import java.util.concurrent.CompletionStage;

/** One that was started. Thread-safe; no method waits. */
public interface Machine {

    /** What it was started as. */
    MachineOffer lot();

    /**
     * HOST:PORT of its memory server, when that serves. Fails with an exception whose message says why, where the
     * machine does not start; then nothing of it is left, and the listener hears nothing of it.
     */
    CompletionStage<String> address();

    /**
     * Has it end: a server that serves is told to leave, and gets its notice for what is still there. Idempotent, also
     * where it is gone, or still starts.
     */
    void stop();
}
