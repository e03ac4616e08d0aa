package io.farheap.slo;

/** A parameter of a {@link Configuration}, in the order of the tree's levels (Redy, section 5.2 and figure 9). */
public enum Parameter {
    SERVER_THREADS,
    CLIENT_THREADS,
    BATCH_SIZE,
    QUEUE_DEPTH
}
