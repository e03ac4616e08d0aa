package io.farheap.manager.provider;

import java.util.concurrent.CompletionStage;

/** A machine that was started. Thread-safe; no method waits. */
public interface Machine {

    /** The offer by which it was started. */
    MachineOffer lot();

    /**
     * Completes with the HOST:PORT of its memory server, when that serves. If the machine does not start, it fails with
     * an exception whose message says why; then nothing of the machine is left, and the listener is not notified about
     * it.
     */
    CompletionStage<String> address();

    /**
     * Ends the machine: a server that serves is asked to leave, and has its notice to hand over what is still there.
     * Idempotent; it may also be called while the machine still starts, or after it has ended.
     */
    void stop();
}
