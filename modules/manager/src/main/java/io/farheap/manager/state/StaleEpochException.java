package io.farheap.manager.state;

/** Another manager has opened the state since: this one is not the leader, and must stop acting as if it was. */
public final class StaleEpochException extends StateException {

    public StaleEpochException(String message) {
        super(message);
    }
}
