package io.farheap.store;

/** What tests do where a session is full. */
final class Calls {

    private Calls() {}

    static void goOn(StoreSession session) {
        if (!session.poll()) {
            session.awaitProgress();
        }
    }
}
