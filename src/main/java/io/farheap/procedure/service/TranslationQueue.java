package io.farheap.procedure.service;

import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;

/**
 * The registrations that wait to be translated. Clients take turns: one that sends many delays another's by one class
 * for each client that waits. Any thread.
 */
final class TranslationQueue {

    /** The most registrations of a client that wait. */
    static final int MOST_OF_CLIENT = 16;

    private final Executor translator;
    /** By client, the one whose turn is next first; only those that wait. */
    private final LinkedHashMap<Object, ArrayDeque<Runnable>> waiting = new LinkedHashMap<>();

    /** @param translator runs what it is given one after another */
    TranslationQueue(Executor translator) {
        this.translator = translator;
    }

    /**
     * Adds a registration.
     *
     * @param client equal for all registrations of a client process
     * @return false if so many of the client wait that it has to try again later
     */
    synchronized boolean add(Object client, Runnable registration) {
        ArrayDeque<Runnable> own = waiting.getOrDefault(client, new ArrayDeque<>());
        if (own.size() == MOST_OF_CLIENT) {
            return false;
        }
        // Whichever is next by then: there are as many runs as registrations. If there is no thread for the run, an
        // error is thrown, and the registration is not added.
        translator.execute(this::runNext);
        own.add(registration);
        waiting.putIfAbsent(client, own);
        return true;
    }

    private void runNext() {
        take().run();
    }

    private synchronized Runnable take() {
        Map.Entry<Object, ArrayDeque<Runnable>> first = waiting.pollFirstEntry();
        Runnable next = first.getValue().remove();
        if (!first.getValue().isEmpty()) {
            waiting.putLast(first.getKey(), first.getValue());
        }
        return next;
    }
}
