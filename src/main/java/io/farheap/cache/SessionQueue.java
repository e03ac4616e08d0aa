package io.farheap.cache;

import io.farheap.connection.Connection;
import io.farheap.remote.RemoteRegion;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.WcStatus;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A session's connections and the completion queue that they share: posts work requests, counts those in flight, and
 * tells when they have ended. One thread at a time, inside the session's gate or with it claimed: a migration drains
 * and replaces connections, and stashes the completions that it takes on the way; the session's thread has them first.
 */
final class SessionQueue {

    private static final long REFUSED_TIMEOUT_NANOS = 5_000_000_000L;

    /** Who is told of work requests that have ended. */
    interface Ended {

        /**
         * So many work requests with one tag have ended.
         *
         * @param status of {@link WcStatus}; where it is not success, of one
         */
        void ended(long tag, int count, int status);
    }

    private final CompletionQueue completions;
    private final int entries;
    private final StashedCompletions stash;
    private final Routes routes;
    private final Ended owner;
    /**
     * By their number, also those that were replaced or closed, until they are {@linkplain #forget forgotten}: a
     * completion of theirs may still come.
     */
    private @Nullable Connection[] byNumber = {};

    private int inFlight;
    /** A connection may have a list that is not posted. */
    private boolean listing;
    /** A connection is being drained. */
    private boolean draining;

    /**
     * @param entries work requests in flight at most
     * @param stashed the completion queue's entries
     */
    SessionQueue(CompletionQueue completions, int entries, int stashed, Routes routes, Ended owner) {
        this.completions = completions;
        this.entries = entries;
        this.stash = new StashedCompletions(stashed);
        this.routes = routes;
        this.owner = owner;
    }

    /**
     * Forgets a connection that was removed and whose queue pair has been destroyed, which may have completed into this
     * process before. Another may then have its number.
     *
     * @return false where something of it is to be taken yet, and it stays
     */
    boolean forget(int number) {
        Connection connection = number < byNumber.length ? byNumber[number] : null;
        if (connection == null) {
            return true;
        }
        if (connection.inFlight() > 0 || connection.flushing() || stash.anyOf(number)) {
            return false;
        }
        byNumber[number] = null;
        return true;
    }

    /** Uses a connection for a server from now on; its number must be new, or that of one that is forgotten. */
    void add(int server, Connection connection) {
        if (connection.number() >= byNumber.length) {
            byNumber = Arrays.copyOf(byNumber, connection.number() + 1);
        }
        byNumber[connection.number()] = connection;
        routes.connection(server, connection);
    }

    /**
     * Ends the use of a server's connection, on behalf of a migration: what is in flight on it is failed, and its
     * completions are stashed, since destroying a queue pair drops those that were not polled.
     */
    void remove(int server, long timeoutNanos) {
        Connection connection = routes.connection(server);
        routes.connection(server, null);
        if (connection == null) {
            // It was removed before, which failed halfway: its device is broken.
            return;
        }
        connection.postList();
        if (connection.inFlight() > 0) {
            failInFlight(connection, timeoutNanos);
        }
        if (connection.flushing()) {
            // Its completion is dropped, or never came: nobody else would let requests be executed at once again.
            connection.forgetFlush();
            noteDrained();
        }
    }

    /** Fails the connection to a server, if there is one: what is on its way, and what comes later, is lost. */
    void fail(int server) {
        Connection connection = routes.connection(server);
        if (connection != null) {
            fail(connection);
        }
    }

    void fail(Connection connection) {
        connection.fail();
        routes.forget();
    }

    /**
     * Fails a connection and stashes the completions of all that is in flight on it, also of what the device refused.
     */
    private void failInFlight(Connection connection, long timeoutNanos) {
        fail(connection);
        long last = connection.lastId();
        long deadline = System.nanoTime() + timeoutNanos;
        while (last >= 0 && !stash.contains(last) && System.nanoTime() - deadline < 0) {
            stashCompletions();
        }
        connection.forEachUnknown(stash::contains, id -> stash.add(id, WcStatus.WR_FLUSH_ERR));
    }

    /** Work requests to a server that are in flight. */
    int inFlight(int server) {
        Connection connection = routes.connection(server);
        return connection == null ? 0 : connection.inFlight();
    }

    /** The work requests that are in flight; for messages. */
    String describe() {
        StringBuilder text = new StringBuilder();
        for (Connection connection : routes.connections()) {
            if (connection != null && connection.inFlight() > 0) {
                text.append(", ")
                        .append(connection.inFlight())
                        .append(connection.listing() ? " work requests in a list" : " work requests in flight")
                        .append(" on connection ")
                        .append(connection.number());
            }
        }
        return text.toString();
    }

    /** Whether a connection could take another work request. */
    boolean hasRoom(Connection connection) {
        return connection.hasRoom() && inFlight < entries;
    }

    /** Whether the completion queue has room for so many more. */
    boolean hasRoomFor(int count) {
        return inFlight + count <= entries;
    }

    /** Whether a drain is under way: then completions come that are nobody's. */
    boolean draining() {
        return draining;
    }

    /** Posts a READ or a WRITE, or puts it into the connection's list. There must be {@linkplain #hasRoom room}. */
    void post(
            Connection connection,
            boolean write,
            long tag,
            long local,
            int localKey,
            long remote,
            int remoteKey,
            int bytes) {
        inFlight++;
        int error = write
                ? connection.write(tag, local, localKey, remote, remoteKey, bytes)
                : connection.read(tag, local, localKey, remote, remoteKey, bytes);
        if (error != 0) {
            failInFlight(connection, REFUSED_TIMEOUT_NANOS);
        } else if (connection.listing()) {
            listing = true;
        }
    }

    /** As {@link #post}, of a compare-and-swap or a fetch-and-add, with all that waits in the connection's list. */
    void postAtomic(
            Connection connection,
            boolean swap,
            long tag,
            long local,
            int localKey,
            long remote,
            int remoteKey,
            long compareOrAdd,
            long value) {
        inFlight++;
        connection.listAtomic(swap, tag, local, localKey, remote, remoteKey, compareOrAdd, value);
        if (connection.postList() != 0) {
            failInFlight(connection, REFUSED_TIMEOUT_NANOS);
        }
    }

    /**
     * So many work requests are about to be put into connections' {@linkplain Connection#list lists};
     * {@link #postLists} posts them.
     */
    void beginLists(int count) {
        inFlight += count;
        listing = true;
    }

    /** Makes what the connection's {@link Connection#now} left in flight an ordinary work request. */
    void adopt(Connection connection, long tag, boolean write, long remote, int bytes) {
        inFlight++;
        connection.adopt(tag, write, remote, bytes);
    }

    /** Stashes the completion of another, which {@link Connection#now} took. */
    void stashOther() {
        stash.add(completions.id(0), completions.status(0));
    }

    void postLists() {
        if (!listing) {
            return;
        }
        listing = false;
        for (Connection connection : routes.connections()) {
            if (connection != null && connection.listing() && connection.postList() != 0) {
                failInFlight(connection, REFUSED_TIMEOUT_NANOS);
            }
        }
    }

    boolean listing() {
        return listing;
    }

    /** Tells of all that has ended. */
    void takeCompletions() {
        if (stash.count() > 0) {
            takeStashed();
        }
        int polled;
        do {
            polled = completions.poll();
            for (int i = 0; i < polled; i++) {
                complete(completions.id(i), completions.status(i));
            }
            // A session that goes to sleep must leave none behind: only a later one raises an event.
        } while (polled == completions.batch());
    }

    private void takeStashed() {
        int count = stash.count();
        for (int i = 0; i < count; i++) {
            complete(stash.id(i), stash.status(i));
        }
        stash.clear();
    }

    private void complete(long id, int status) {
        Connection connection = byNumber[Connection.connectionOf(id)];
        if (status == WcStatus.SUCCESS && connection.ring().endsFirst(id)) {
            // Most completions.
            inFlight--;
            owner.ended(connection.ring().takeFirst(), 1, status);
            return;
        }
        int ended = connection.complete(id, status);
        if (ended > 1) {
            endSuccessful(connection, ended - 1);
        }
        if (ended > 0) {
            inFlight--;
            owner.ended(connection.take(id), 1, status);
        } else if (ended != Connection.LATE) {
            noteDrained();
        }
    }

    /** Work requests that went before one of their list have ended; most of a list are of one request. */
    private void endSuccessful(Connection connection, int count) {
        inFlight -= count;
        for (int left = count; left > 0; ) {
            long tag = connection.ring().firstTag();
            int same = connection.ring().takeSame(tag, left);
            left -= same;
            owner.ended(tag, same, WcStatus.SUCCESS);
        }
    }

    /** Makes later completions raise an event on the queue's channel. */
    void requestNotification() {
        completions.requestNotification();
    }

    /**
     * Begins to await what has been posted on a connection, on behalf of a migration. It may be done at once; the
     * connection says whether it still is under way.
     *
     * @return false where the connection has failed, so that nothing is known of what it posted
     */
    boolean drain(Connection connection, RemoteRegion region, long scratch, int scratchKey) {
        if (connection.failed() || connection.flush(scratch, scratchKey, region.address(), region.remoteKey()) != 0) {
            routes.forget();
            if (connection.inFlight() > 0) {
                failInFlight(connection, REFUSED_TIMEOUT_NANOS);
            }
            return false;
        }
        draining = true;
        drained(connection);
        return !connection.failed();
    }

    /** Whether the drain of a connection is done, or failed. Other completions are stashed for the session's thread. */
    boolean drained(Connection connection) {
        while (connection.flushing() && stashCompletions() > 0) {
            // There may be more than one batch.
        }
        return !connection.flushing();
    }

    /**
     * Takes completions for the session's thread to handle; those of drains are handled at once.
     *
     * @return how many came
     */
    private int stashCompletions() {
        int polled = completions.poll();
        for (int i = 0; i < polled; i++) {
            Connection connection = byNumber[Connection.connectionOf(completions.id(i))];
            if (completions.id(i) == connection.flushId()) {
                complete(completions.id(i), completions.status(i));
            } else {
                stash.add(completions.id(i), completions.status(i));
            }
        }
        return polled;
    }

    private void noteDrained() {
        boolean any = false;
        for (Connection connection : byNumber) {
            any |= connection != null && connection.flushing();
        }
        draining = any;
    }
}
