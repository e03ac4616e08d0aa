package io.farheap.store;

/** The step that tests take before they try again with a session that is full. */
final class Calls {

    private Calls() {}

    static void goOn(StoreSession session) {
        if (!session.poll()) {
            session.awaitProgress();
        }
    }
}
