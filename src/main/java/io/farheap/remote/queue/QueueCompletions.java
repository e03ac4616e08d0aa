package io.farheap.remote.queue;

import io.farheap.connection.Connection;
import io.farheap.connection.OperationRing;
import io.farheap.remote.contract.Outcome;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.WcStatus;
import org.jspecify.annotations.Nullable;

/**
 * The operations in flight on a queue's connections, which share a completion queue, and the operations that have
 * ended. A {@code RemoteQueue} and a cache's session both use it, inside the queue's gate or with the gate claimed: a
 * claiming thread stashes the completions that it takes, and the owner gets these first. Nothing here allocates after
 * construction.
 *
 * <p>The owner takes operations in this order: those already {@linkplain #left noted}; those that {@link #noteStashed}
 * notes; for each completion found by {@link #poll} those that {@link #takeNext} returns or notes; and those that
 * {@link #noteRefused} notes. The first two steps and the last are needed only if {@link #hasMore} returns true. The
 * owner takes an operation before it calls code that may throw; the remaining operations then wait for its next poll.
 * This class calls no handler on that path: each owner calls its handler in its own loop.
 */
public final class QueueCompletions implements AutoCloseable {

    /**
     * A {@link #status} beside those of {@link WcStatus}: the connection had failed before the operation could be
     * posted.
     */
    public static final int NOT_POSTED = -1;

    private static final int NO_ID = -1;

    private final CompletionQueue completions;
    private final QueueConnections connections;
    private final int limit;
    private final int batch;
    private final CompletionStash stash;
    private final Runnable changed;

    private int inFlight;
    /** The index in the completion queue's array of the next completion to take. */
    private int at;

    private int polled;
    /** The connection of the noted operations, which have ended and wait to be taken. */
    private @Nullable Connection ending;

    private long endingId;
    /** The status of the last of the noted operations. */
    private int endingStatus;

    private int endingLeft;
    /** A connection may have operations for which no completion will arrive. */
    private boolean refused;
    /** Something is stashed or refused, or the queue is shut: one load for all rare cases. */
    private boolean more;
    /** A connection is being drained. */
    private boolean draining;

    private boolean shut;

    /**
     * Takes ownership of the completion queue.
     *
     * @param limit the most operations in flight
     * @param stashed the number of the completion queue's entries
     * @param changed runs when a connection fails, or its use begins or ends: what a caller has cached about
     *     connections may then be out of date
     */
    public QueueCompletions(
            CompletionQueue completions, int limit, int stashed, QueueConnections connections, Runnable changed) {
        this.completions = completions;
        this.limit = limit;
        this.batch = completions.batch();
        this.stash = new CompletionStash(stashed);
        this.connections = connections;
        this.changed = changed;
    }

    /** Operations that have begun and have not been taken. */
    public int inFlight() {
        return inFlight;
    }

    /** How many more operations may begin. */
    public int room() {
        return limit - inFlight;
    }

    boolean hasRoomFor(int count) {
        return inFlight + count <= limit;
    }

    /** Whether no completion is outstanding, and none waits to be taken, not even a late one. */
    public boolean isIdle() {
        return inFlight == 0 && !draining && stash.count() == 0 && at == polled;
    }

    /** Whether a drain is under way, so that completions arrive that belong to no operation. */
    public boolean draining() {
        return draining;
    }

    /** Counts so many more operations as in flight. */
    void begin(int count) {
        inFlight += count;
    }

    /** Notes that a connection has a flush in flight. */
    void beginDrain() {
        draining = true;
    }

    /** Notes that the use of a connection begins or ends. */
    void change() {
        changed.run();
    }

    /** Notes that a connection has failed: some of its operations may get no completion. */
    void refuse() {
        refused = true;
        more = true;
        changed.run();
    }

    /** Stashes the completion of another operation, which a single-call operation has taken. */
    void stashOther() {
        stash(completions.id(0), completions.status(0));
    }

    private void stash(long id, int status) {
        stash.add(id, status);
        more = true;
    }

    /** Ends the latest operation of a connection, for which no completion will arrive. */
    void failLast(Connection connection) {
        stash(connection.lastId(), WcStatus.WR_FLUSH_ERR);
    }

    /** Whether there may be operations to take beside those that {@link #poll} finds. */
    public boolean hasMore() {
        return more || endingLeft > 0;
    }

    /** How many operations have ended, are noted, and wait to be taken. */
    public int left() {
        return endingLeft;
    }

    /** The status of the next noted operation: one of {@link WcStatus}, or {@link #NOT_POSTED}. There must be one. */
    public int status() {
        return endingLeft == 1 || endingStatus == NOT_POSTED ? endingStatus : WcStatus.SUCCESS;
    }

    /**
     * The outcome of an operation, one of {@link Outcome}. A local error of the queue pair counts as trouble that
     * passes, such as a shortage of memory or of descriptors.
     *
     * @param status a {@link #status}
     */
    public static int outcome(int status) {
        if (status == WcStatus.SUCCESS) {
            return Outcome.DONE;
        }
        if (status == NOT_POSTED) {
            return Outcome.NOT_POSTED;
        }
        boolean refused = status == WcStatus.REM_ACCESS_ERR
                || status == WcStatus.REM_INV_REQ_ERR
                || status == WcStatus.LOC_PROT_ERR
                || status == WcStatus.LOC_LEN_ERR;
        return refused ? Outcome.REFUSED : Outcome.UNKNOWN;
    }

    /** The connection of the noted operations. There must be one. */
    // While operations are left, their connection is not null.
    @SuppressWarnings("NullAway")
    public Connection connection() {
        return ending;
    }

    /** As {@link Connection#firstBytes}, of the next noted operation. There must be one. */
    // As above.
    @SuppressWarnings("NullAway")
    public int bytes() {
        return ending.firstBytes(endingId);
    }

    /** The tag of the next noted operation. There must be one. */
    // While operations are left, their connection is not null.
    @SuppressWarnings("NullAway")
    public long tag() {
        return ending.firstTag(endingId);
    }

    /**
     * Takes the next noted operation; there must be one.
     *
     * @return its tag
     */
    // As above.
    @SuppressWarnings("NullAway")
    public long take() {
        endingLeft--;
        inFlight--;
        return ending.take(endingId);
    }

    /**
     * Takes the next noted operation, and those behind it as long as they have the same tag and status.
     *
     * @param tag the tag of the next operation
     * @return how many were taken
     */
    // As above.
    @SuppressWarnings("NullAway")
    public int takeSame(long tag) {
        int left = endingLeft;
        boolean lastToo = left == 1 || endingStatus == WcStatus.SUCCESS || endingStatus == NOT_POSTED;
        int same = ending.takeSame(endingId, tag, lastToo ? left : left - 1);
        endingLeft = left - same;
        inFlight -= same;
        return same;
    }

    /**
     * Takes the next stashed completion, and notes the operations that it ends: none if it is late. No noted operations
     * may be left.
     *
     * @return false if no completion is stashed
     */
    public boolean noteStashed() {
        checkOpen();
        if (stash.count() == 0) {
            more = refused;
            return false;
        }
        long id = stash.firstId();
        int status = stash.firstStatus();
        stash.removeFirst();
        note(id, status);
        return true;
    }

    private void checkOpen() {
        if (shut) {
            throw new IllegalStateException("the queue is closed");
        }
    }

    /**
     * Polls the device, unless completions of an earlier poll are still to be taken.
     *
     * @return the index behind the last completion; those from {@link #first} on are to be taken by {@link #takeNext}
     */
    public int poll() {
        if (at == polled) {
            polled = completions.poll();
            at = 0;
        }
        return polled;
    }

    /** The index of the first completion to take. */
    public int first() {
        return at;
    }

    /** The most completions that one poll of the device returns: after that many there may be more. */
    public int batch() {
        return batch;
    }

    /**
     * Takes the next completion that {@link #poll} has found. No noted operations may be left.
     *
     * @param next its index: {@link #first}, and one more with each call
     * @return the common case: if it successfully ends exactly the first operation of a connection, that connection's
     *     ring, from which the caller takes it; null in every other case, in which the ended operations, if any, are
     *     noted
     */
    public @Nullable OperationRing takeNext(int next) {
        at = next + 1;
        long id = completions.id(next);
        int status = completions.status(next);
        OperationRing ring = connections.of(id).ring();
        if (status == WcStatus.SUCCESS && ring.endsFirst(id)) {
            inFlight--;
            return ring;
        }
        note(id, status);
        return null;
    }

    private void note(long id, int status) {
        Connection connection = connections.of(id);
        int ended = connection.complete(id, status);
        if (status != WcStatus.SUCCESS) {
            refuse();
        }
        if (ended > 0) {
            note(connection, id, status, ended);
        } else if (ended != Connection.LATE) {
            noteDrained();
        }
    }

    private void note(Connection connection, long id, int status, int ended) {
        ending = connection;
        endingId = id;
        endingStatus = status;
        endingLeft = ended;
    }

    private void noteDrained() {
        boolean any = false;
        for (Connection connection : connections.all()) {
            any |= connection != null && connection.flushing();
        }
        draining = any;
    }

    /**
     * Notes operations of a failed connection for which no completion will arrive. No noted operations may be left.
     *
     * @param listing whether the owner is making lists; if not, the lists of failed connections are given up
     * @return false if there are none
     */
    public boolean noteRefused(boolean listing) {
        return refused && findRefused(listing);
    }

    private boolean findRefused(boolean listing) {
        boolean waiting = false;
        for (Connection connection : connections.all()) {
            if (connection == null) {
                continue;
            }
            if (connection.failed() && connection.listing() && !listing) {
                connection.abandonList();
            }
            int left = connection.ring().refused();
            if (left > 0) {
                note(connection, NO_ID, NOT_POSTED, left);
                return true;
            }
            waiting |= connection.failed() && connection.inFlight() > 0;
        }
        refused = waiting;
        more = waiting || stash.count() > 0;
        return false;
    }

    /** Makes later completions raise an event. Earlier ones raise none: {@link #hasSome} finds them. */
    public void requestNotification() {
        completions.requestNotification();
    }

    /** Whether there are, or may be, operations to take. */
    public boolean hasSome() {
        checkOpen();
        return hasMore() || poll() > at;
    }

    /**
     * Forgets a connection whose queue pair has been destroyed; earlier completions of it may still be in this process.
     * Afterwards another connection may have its number.
     *
     * @return false if something of it is still to be taken, so that it stays
     */
    public boolean forget(int number) {
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

    /** Takes all completions: those of flushes are handled here, the others are stashed for the owner. */
    private void stashAll() {
        checkOpen();
        while (poll() > at) {
            int next = at++;
            long id = completions.id(next);
            Connection connection = connections.of(id);
            if (id == connection.flushId()) {
                int status = completions.status(next);
                connection.complete(id, status);
                if (status != WcStatus.SUCCESS) {
                    refuse();
                }
                noteDrained();
            } else {
                stash(id, completions.status(next));
            }
        }
    }

    /** Whether a connection has no flush in flight. Other completions are stashed for the owner. */
    boolean drained(Connection connection) {
        if (connection.flushing()) {
            stashAll();
        }
        return !connection.flushing();
    }

    /**
     * Whether an operation on a server that uses memory under a key has not ended, or is not known to be done. Takes
     * the completions that have arrived on behalf of the owner, which may not poll for long and finds them in the
     * stash.
     */
    public boolean usesRemote(int server, int remoteKey) {
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
     * Stashes a completion for everything that a failed connection has in flight, also for requests that the device
     * refused, and stops waiting for its flush: destroying the queue pair would drop the completions.
     */
    void stashFailed(Connection connection, long timeoutNanos) {
        refuse();
        long last = connection.lastId();
        long deadline = System.nanoTime() + timeoutNanos;
        while (last >= 0 && !ended(connection, last) && System.nanoTime() - deadline < 0) {
            stashAll();
        }
        connection.forEachUnknown(stash::contains, id -> stash(id, WcStatus.WR_FLUSH_ERR));
        connection.forgetFlush();
        noteDrained();
    }

    private boolean ended(Connection connection, long last) {
        return stash.contains(last)
                || connection.inFlight() == 0
                || endingLeft > 0 && ending == connection && endingId == last;
    }

    /** Ends taking: later calls throw. */
    public void shut() {
        shut = true;
        more = true;
    }

    @Override
    public void close() {
        completions.close();
    }
}
