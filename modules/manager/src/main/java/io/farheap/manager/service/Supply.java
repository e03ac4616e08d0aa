package io.farheap.manager.service;

/**
 * How many servers a manager wants, and how long it waits for those that it starts.
 *
 * @param spares the room of this many servers is held back for caches on servers that leave
 * @param startWaitNanos how long an allocation waits for servers that are started for it
 * @param idleNanos a server that the manager has started and that has been empty for this long is stopped
 */
public record Supply(int spares, long startWaitNanos, long idleNanos) {

    static final Supply DEFAULT = new Supply(0, 60_000_000_000L, 300_000_000_000L);

    public Supply {
        if (spares < 0 || startWaitNanos < 1 || idleNanos < 1) {
            throw new IllegalArgumentException(spares + " spare servers, " + startWaitNanos
                    + " ns for those that start and " + idleNanos
                    + " for those that are empty; the first is at least 0, the others are more");
        }
    }
}
