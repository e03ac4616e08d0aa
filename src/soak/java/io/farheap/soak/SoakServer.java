package io.farheap.soak;

/** A memory server. */
public interface SoakServer extends SoakProcess {

    /** HOST:PORT of its control plane. */
    String address();
}
