package io.farheap.manager.state;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which nodes of records are there, so that a write need not look first: nobody makes or deletes any but the store that
 * has opened the state last. It knows it from when all were read until the outcome of a write is unknown, or something
 * was other than it knew.
 *
 * <p>One thread at a time.
 */
final class KnownNodes {

    private final Set<String> there = new HashSet<>();
    private boolean known;

    /** Whether {@link #has} can be asked. */
    boolean known() {
        return known;
    }

    boolean has(String path) {
        return there.contains(path);
    }

    /** Everything was read, and these are there. */
    void know(List<List<String>> paths) {
        there.clear();
        paths.forEach(there::addAll);
        known = true;
    }

    void forget() {
        there.clear();
        known = false;
    }

    /** It has happened that a node is there, or is not. */
    void change(String path, boolean exists) {
        if (!known) {
            return;
        }
        if (exists) {
            there.add(path);
        } else {
            there.remove(path);
        }
    }
}
