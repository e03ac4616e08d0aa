package io.farheap.bench.peers;

import java.util.Locale;

/** What is measured. */
public enum Operation {
    GET,
    PUT;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
