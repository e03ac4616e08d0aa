package io.farheap.remote;

import io.farheap.connection.Connection;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.WcStatus;
import org.jspecify.annotations.Nullable;

/**
 * A queue's operations in flight, and what has ended of them, in the order in which it is handed over. Used inside the
 * queue's gate, or with it claimed: who claims it stashes the completions that it takes, and the owner's next poll has
 * them first. Nothing here allocates after construction.
 */
final class QueueCompletions implements AutoCloseable {

    private final CompletionQueue completions;
    private final QueueConnections connections;
    private final Stash stash;

    private int inFlight;
    /** Of the completions in the completion queue's array, those before it have been taken. */
    private int at;

    private int polled;
    /** What the latest of them ends and has not been handed to a handler yet. */
    private @Nullable Connection ending;

    private long endingId;
    private int endingStatus;
    private int endingLeft;
    /** A connection has operations that no completion will come for. */
    private boolean refused;

    private boolean shut;

    /** Owns the completion queue from now on. */
    QueueCompletions(CompletionQueue completions, int stashed, QueueConnections connections) {
        this.completions = completions;
        this.stash = new Stash(stashed);
        this.connections = connections;
    }

    /** Operations that are begun and have not been handed over. */
    int inFlight() {
        return inFlight;
    }

    /** Whether no completion is to come, and none is stashed. */
    boolean isIdle() {
        return inFlight == 0 && stash.count() == 0;
    }

    /** One more operation is in flight. */
    void begin() {
        inFlight++;
    }

    /** A connection has failed: its operations may have no completion. */
    void refuse() {
        refused = true;
    }

    /** Stashes the completion of another, which an operation in one native call took. */
    void stashOther() {
        stash.add(completions.id(0), completions.status(0));
    }

    /** Ends the latest operation of a connection, which no completion will come for. */
    void failLast(Connection connection) {
        stash.add(connection.lastId(), WcStatus.WR_FLUSH_ERR);
    }

    /**
     * Hands over what has ended, at most some dozens.
     *
     * @param listing whether lists are still being made
     * @return how many
     */
    int poll(CompletionHandler handler, boolean listing) {
        int handed = hand(handler);
        while (stash.count() > 0) {
            // Taken before it is handed over: a handler may throw.
            long id = stash.firstId();
            int status = stash.firstStatus();
            stash.removeFirst();
            end(id, status);
            handed += hand(handler);
        }
        while (fetch()) {
            handed += takeNext(handler);
            if (at == polled) {
                break;
            }
        }
        return refused ? handed + handRefused(handler, listing) : handed;
    }

    /** Makes later completions raise an event. Those that came before raise none: {@link #hasSome} sees them. */
    void requestNotification() {
        completions.requestNotification();
    }

    /** Whether there is something to hand over, or may be. */
    boolean hasSome() {
        return endingLeft > 0 || stash.count() > 0 || refused || fetch();
    }

    /** Whether there is a completion to take. */
    private boolean fetch() {
        if (shut) {
            throw new IllegalStateException("the queue is closed");
        }
        if (at == polled) {
            polled = completions.poll();
            at = 0;
        }
        return at < polled;
    }

    /** Hands over what the next completion ends. */
    private int takeNext(CompletionHandler handler) {
        int next = at++;
        long id = completions.id(next);
        int status = completions.status(next);
        Connection connection = connections.of(id);
        if (status != WcStatus.SUCCESS || !connection.ring().endsFirst(id)) {
            end(id, status);
            return hand(handler);
        }
        // Most completions. Nothing is left to note should the handler throw.
        inFlight--;
        handler.completed(connection.ring().takeFirst(), Outcome.DONE);
        return 1;
    }

    private void end(long id, int status) {
        Connection connection = connections.of(id);
        int ended = connection.complete(id, status);
        if (status != WcStatus.SUCCESS) {
            refused = true;
        }
        if (ended > 0) {
            ending = connection;
            endingId = id;
            endingStatus = status;
            endingLeft = ended;
        }
    }

    /** Hands over what the latest completion ends. */
    // While some are left, there is a connection that they are of.
    @SuppressWarnings("NullAway")
    private int hand(CompletionHandler handler) {
        int handed = 0;
        while (endingLeft > 0) {
            endingLeft--;
            inFlight--;
            handed++;
            handler.completed(ending.take(endingId), endingLeft == 0 ? Outcome.of(endingStatus) : Outcome.DONE);
        }
        return handed;
    }

    private int handRefused(CompletionHandler handler, boolean listing) {
        int handed = 0;
        boolean waiting = false;
        for (Connection connection : connections.all()) {
            if (connection == null) {
                continue;
            }
            if (connection.failed() && connection.listing() && !listing) {
                connection.abandonList();
            }
            for (int left = connection.ring().refused(); left > 0; left--) {
                inFlight--;
                handed++;
                handler.completed(connection.ring().takeFirst(), Outcome.NOT_POSTED);
            }
            waiting |= connection.failed() && connection.inFlight() > 0;
        }
        refused = waiting;
        return handed;
    }

    /**
     * Forgets a connection whose queue pair has been destroyed, which may have completed into this process before.
     *
     * @return false where something of it is to be taken or handed over yet, and it stays
     */
    boolean forget(int number) {
        Connection connection = connections.find(number);
        if (connection == null) {
            return true;
        }
        boolean awaited = connection.inFlight() > 0
                || connection.flushing()
                || endingLeft > 0 && ending == connection
                || stash.anyOf(number);
        for (int next = at; next < polled; next++) {
            awaited |= Connection.connectionOf(completions.id(next)) == number;
        }
        if (!awaited) {
            connections.forget(number);
        }
        return !awaited;
    }

    /** Takes all completions; those of flushes end here, the others wait for the owner. */
    void stashAll() {
        while (fetch()) {
            int next = at++;
            long id = completions.id(next);
            Connection connection = connections.of(id);
            if (id == connection.flushId()) {
                connection.complete(id, completions.status(next));
            } else {
                stash.add(id, completions.status(next));
            }
        }
    }

    /**
     * Whether an operation of a server that uses memory under a key has not ended, or is not known to be done. What has
     * come is taken in the owner's place, who may not poll for long: it finds that in the stash.
     */
    boolean usesRemote(int server, int remoteKey) {
        if (!connections.usesRemote(server, remoteKey, this::isDone)) {
            return false;
        }
        stashAll();
        return connections.usesRemote(server, remoteKey, this::isDone);
    }

    private boolean isDone(long id) {
        return stash.containsDone(id) || endingLeft > 0 && endingId == id && endingStatus == WcStatus.SUCCESS;
    }

    /**
     * Stashes the completions of all that a failed connection has in flight, also of what the device refused:
     * destroying its queue pair would drop them.
     */
    void stashFailed(Connection connection, long timeoutNanos) {
        refused = true;
        long last = connection.lastId();
        long deadline = System.nanoTime() + timeoutNanos;
        while (last >= 0 && !ended(connection, last) && System.nanoTime() - deadline < 0) {
            stashAll();
        }
        connection.forEachUnknown(stash::contains, id -> stash.add(id, WcStatus.WR_FLUSH_ERR));
    }

    private boolean ended(Connection connection, long last) {
        return stash.contains(last)
                || connection.inFlight() == 0
                || endingLeft > 0 && ending == connection && endingId == last;
    }

    /** Nothing is taken any more. */
    void shut() {
        shut = true;
    }

    @Override
    public void close() {
        completions.close();
    }
}
