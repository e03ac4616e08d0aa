package io.farheap.remote.queue;

import io.farheap.connection.Connection;
import io.farheap.connection.OperationRing;
import io.farheap.remote.contract.Outcome;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.WcStatus;
import org.jspecify.annotations.Nullable;

/**
 * The operations in flight on a queue's connections, which share a completion queue, and what has ended of them: what a
 * {@code RemoteQueue} and a cache's session have in common. Used inside the queue's gate, or with it claimed: who
 * claims it stashes the completions that it takes, and the owner has them first. Nothing here allocates after
 * construction.
 *
 * <p>The owner takes, in this order: what is {@linkplain #left noted} already, what {@link #noteStashed} notes, for
 * each completion that {@link #poll} finds what {@link #takeNext} says or notes, and what {@link #noteRefused} notes;
 * the first two and the last where {@link #hasMore} says so. It takes an operation before it does anything that may
 * throw; the others then wait for it to go on. Nothing here calls the owner on that way: each owner's handler is known
 * to its own loop.
 */
public final class QueueCompletions implements AutoCloseable {

    /** From {@link #status}, beside those of {@link WcStatus}: the connection had failed before it could be posted. */
    public static final int NOT_POSTED = -1;

    private static final int NO_ID = -1;

    private final CompletionQueue completions;
    private final QueueConnections connections;
    private final int limit;
    private final int batch;
    private final CompletionStash stash;
    private final Runnable changed;

    private int inFlight;
    /** Of the completions in the completion queue's array, those before it have been taken. */
    private int at;

    private int polled;
    /** The connection of the operations that are noted: they have ended, and are to be taken. */
    private @Nullable Connection ending;

    private long endingId;
    /** Of the last of them. */
    private int endingStatus;

    private int endingLeft;
    /** A connection has operations that no completion will come for. */
    private boolean refused;
    /** Something is stashed or refused, or the queue has ended: one load for what is rare. */
    private boolean more;
    /** A connection is being drained. */
    private boolean draining;

    private boolean shut;

    /**
     * Owns the completion queue from now on.
     *
     * @param limit operations in flight at most
     * @param stashed the completion queue's entries
     * @param changed is run when a connection has failed, or is used or left: what was found out about them may be
     *     wrong now
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

    /** Operations that are begun and have not been taken. */
    public int inFlight() {
        return inFlight;
    }

    /** How many more may be begun. */
    public int room() {
        return limit - inFlight;
    }

    boolean hasRoomFor(int count) {
        return inFlight + count <= limit;
    }

    /** Whether no completion is to come, and none waits to be taken, be it a late one. */
    public boolean isIdle() {
        return inFlight == 0 && !draining && stash.count() == 0 && at == polled;
    }

    /** Whether a drain is under way: then completions come that are no operation's. */
    public boolean draining() {
        return draining;
    }

    /** So many more operations are in flight. */
    void begin(int count) {
        inFlight += count;
    }

    /** A connection has a flush on its way. */
    void beginDrain() {
        draining = true;
    }

    /** A connection is used, or not used any more. */
    void change() {
        changed.run();
    }

    /** A connection has failed: its operations may have no completion. */
    void refuse() {
        refused = true;
        more = true;
        changed.run();
    }

    /** Stashes the completion of another, which an operation in one native call took. */
    void stashOther() {
        stash(completions.id(0), completions.status(0));
    }

    private void stash(long id, int status) {
        stash.add(id, status);
        more = true;
    }

    /** Ends the latest operation of a connection, which no completion will come for. */
    void failLast(Connection connection) {
        stash(connection.lastId(), WcStatus.WR_FLUSH_ERR);
    }

    /** Whether there may be something to take beside what {@link #poll} finds. */
    public boolean hasMore() {
        return more || endingLeft > 0;
    }

    /** Operations that have ended, are noted, and are to be taken. */
    public int left() {
        return endingLeft;
    }

    /** The next one's: one of {@link WcStatus}, or {@link #NOT_POSTED}. There must be one. */
    public int status() {
        return endingLeft == 1 || endingStatus == NOT_POSTED ? endingStatus : WcStatus.SUCCESS;
    }

    /**
     * What became of an operation, as one of {@link Outcome}. A local error of the queue pair is trouble that passes,
     * such as a shortage of memory or of descriptors.
     *
     * @param status as {@link #status} says it
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

    /** The next one's. There must be one. */
    // While some are left, there is a connection that they are of.
    @SuppressWarnings("NullAway")
    public long tag() {
        return ending.firstTag(endingId);
    }

    /**
     * Takes the next one; there must be one.
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
     * Takes the next one, and those behind it as far as they have the same tag and status.
     *
     * @param tag the next one's
     * @return how many
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
     * Takes the next completion that others have stashed, and notes what it ends: nothing, if it is late. Nothing may
     * be left.
     *
     * @return false where there is none
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
     * Takes completions from the device, unless some that came before are to be taken yet.
     *
     * @return the number behind the last of them; those from {@link #first} on are to be taken by {@link #takeNext}
     */
    public int poll() {
        if (at == polled) {
            polled = completions.poll();
            at = 0;
        }
        return polled;
    }

    /** The number of the first completion that is to be taken. */
    public int first() {
        return at;
    }

    /** How many completions the device gives at most: where it has given as many, it may have more. */
    public int batch() {
        return batch;
    }

    /**
     * Takes the next completion, which {@link #poll} has found. Nothing may be left.
     *
     * @param next its number: {@link #first}, and one more with each
     * @return where it ends one operation, well, the ring that this is the first of, to be taken from there: of most;
     *     null where it ends others, or none, which are noted
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
     * Notes operations of a failed connection that no completion will come for. Nothing may be left.
     *
     * @param listing whether the owner is making lists, which are given up otherwise
     * @return false where there are none
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

    /** Makes later completions raise an event. Those that came before raise none: {@link #hasSome} sees them. */
    public void requestNotification() {
        completions.requestNotification();
    }

    /** Whether there is something to take, or may be. */
    public boolean hasSome() {
        checkOpen();
        return hasMore() || poll() > at;
    }

    /**
     * Forgets a connection whose queue pair has been destroyed, which may have completed into this process before.
     * Another may then have its number.
     *
     * @return false where something of it is to be taken yet, and it stays
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

    /** Takes all completions; those of flushes end here, the others wait for the owner. */
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

    /** Whether no flush of a connection is on its way. What else has come waits for the owner. */
    boolean drained(Connection connection) {
        if (connection.flushing()) {
            stashAll();
        }
        return !connection.flushing();
    }

    /**
     * Whether an operation of a server that uses memory under a key has not ended, or is not known to be done. What has
     * come is taken in the owner's place, who may not poll for long: it finds that in the stash.
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
     * Stashes the completions of all that a failed connection has in flight, also of what the device refused, and
     * awaits no flush of it: destroying its queue pair would drop them.
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

    /** Nothing is taken any more. */
    public void shut() {
        shut = true;
        more = true;
    }

    @Override
    public void close() {
        completions.close();
    }
}
