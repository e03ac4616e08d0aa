package io.farheap.manager.state;

/**
 * Thrown if another manager has opened the state since: this one is not the leader, and must stop acting as the leader.
 */
public final class StaleEpochException extends StateException {

    public StaleEpochException(String message) {
        super(message);
    }
}
