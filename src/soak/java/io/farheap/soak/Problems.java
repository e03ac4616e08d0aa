package io.farheap.soak;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What is wrong. Any thread. */
final class Problems {

    private static final int MOST = 20;

    private final Queue<String> all = new ConcurrentLinkedQueue<>();

    void add(String problem) {
        if (all.size() < MOST) {
            all.add(problem);
        }
    }

    void add(String where, Throwable thrown) {
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace));
        add(where + ": " + trace);
    }

    boolean any() {
        return !all.isEmpty();
    }

    Queue<String> all() {
        return all;
    }
}
