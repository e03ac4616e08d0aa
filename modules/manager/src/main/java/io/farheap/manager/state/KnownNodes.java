package io.farheap.manager.state;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Which nodes of records exist, so that a write need not look first: only the store that has opened the state last
 * creates or deletes nodes. The knowledge is valid from a read of all nodes until the outcome of a write is unknown, or
 * a node is found to be other than known.
 *
 * <p>One thread at a time.
 */
final class KnownNodes {

    private final Set<String> there = new HashSet<>();
    private boolean known;

    /** Whether {@link #has} may be called. */
    boolean known() {
        return known;
    }

    boolean has(String path) {
        return there.contains(path);
    }

    /** Sets the knowledge after all nodes were read. */
    void know(List<List<String>> paths) {
        there.clear();
        paths.forEach(there::addAll);
        known = true;
    }

    void forget() {
        there.clear();
        known = false;
    }

    /** A node was created or deleted. */
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
