package io.farheap.bench.peers;

import java.util.Locale;

/** What is measured. */
public enum PeerOperation {
    GET,
    PUT;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
