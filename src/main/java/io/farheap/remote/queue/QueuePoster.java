package io.farheap.remote.queue;

import io.farheap.connection.Connection;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.verbs.OneOperation;

/**
 * Posts operations on a queue's connections, drains the connections and fails them; {@link QueueCompletions} handles
 * the operations that have ended. A {@code RemoteQueue} and a cache's session both use it, inside the queue's gate or
 * with the gate claimed. Nothing on the path of an operation allocates.
 */
public final class QueuePoster {

    private final QueueConnections connections;
    private final QueueCompletions completions;
    /** A connection may have a list that is not posted yet. */
    private boolean listed;

    public QueuePoster(QueueConnections connections, QueueCompletions completions) {
        this.connections = connections;
        this.completions = completions;
    }

    /** Uses a connection for a server from now on; its number must be new, or that of a forgotten connection. */
    public void add(int server, Connection connection) {
        connections.add(server, connection);
        completions.change();
    }

    /**
     * Forgets a connection that is no longer used and whose queue pair has been destroyed.
     *
     * @return false if something of it is still to be taken, so that it stays
     */
    public boolean forget(int number) {
        return completions.forget(number);
    }

    /**
     * Ends the use of a server's connection, if there is one: its operations in flight fail. Their completions are
     * stashed, since destroying the queue pair would drop them, and so are the keys of the memory that they use.
     *
     * @param timeoutNanos how long to wait for the completions of failed operations; those without one have failed all
     *     the same
     */
    public void detach(int server, long timeoutNanos) {
        Connection connection = connections.to(server);
        if (connection == null) {
            return;
        }
        connections.leave(server);
        completions.change();
        connection.abandonList();
        fail(connection);
        completions.stashFailed(connection, timeoutNanos);
        connection.used().keep();
    }

    /** Fails the connection to a server, if there is one: its operations in flight are lost, and later ones refused. */
    public void fail(int server) {
        Connection connection = connections.to(server);
        if (connection != null) {
            fail(connection);
        }
    }

    private void fail(Connection connection) {
        try {
            connection.fail();
        } finally {
            // It counts as failed even if the device refuses the state change.
            completions.refuse();
        }
    }

    /** Whether another operation may be posted on a connection. */
    public boolean hasRoom(Connection connection) {
        return connection.hasRoom() && completions.hasRoomFor(1);
    }

    /** Whether the queue has room for so many more operations. */
    public boolean hasRoomFor(int count) {
        return completions.hasRoomFor(count);
    }

    /** How many operations to a server are in flight. */
    public int inFlight(int server) {
        Connection connection = connections.to(server);
        return connection == null ? 0 : connection.inFlight();
    }

    /** Posts a READ or a WRITE, or puts it into the connection's list. There must be {@linkplain #hasRoom room}. */
    public void post(
            Connection connection,
            boolean write,
            long tag,
            long local,
            int localKey,
            long remote,
            int remoteKey,
            int bytes) {
        completions.begin(1);
        int error = write
                ? connection.write(tag, local, localKey, remote, remoteKey, bytes)
                : connection.read(tag, local, localKey, remote, remoteKey, bytes);
        if (error != 0) {
            fail(connection);
        } else if (connection.listing()) {
            listed = true;
        }
    }

    /** As {@link #post}, for a compare-and-swap or a fetch-and-add; posts the connection's list with it. */
    public void postAtomic(
            Connection connection,
            boolean swap,
            long tag,
            long local,
            int localKey,
            long remote,
            int remoteKey,
            long compareOrAdd,
            long value) {
        completions.begin(1);
        int error;
        if (connection.listing()) {
            connection.listAtomic(swap, tag, local, localKey, remote, remoteKey, compareOrAdd, value);
            error = connection.postList();
        } else {
            error = connection.atomic(swap, tag, local, localKey, remote, remoteKey, compareOrAdd, value);
        }
        if (error != 0) {
            fail(connection);
        }
    }

    /**
     * Counts so many operations as in flight that the caller is about to add to connections'
     * {@linkplain Connection#list lists}; {@link #postLists} posts them.
     */
    public void beginLists(int count) {
        completions.begin(count);
        listed = true;
    }

    /** Whether {@link #postLists} may have something to post. */
    public boolean hasLists() {
        return listed;
    }

    /** @return how many lists were posted, each with one doorbell */
    public int postLists() {
        if (!listed) {
            return 0;
        }
        listed = false;
        int posted = 0;
        for (Connection connection : connections.inUse()) {
            if (connection == null || !connection.listing()) {
                continue;
            }
            if (connection.failed()) {
                connection.abandonList();
                completions.refuse();
            } else {
                posted++;
                if (connection.postList() != 0) {
                    fail(connection);
                }
            }
        }
        return posted;
    }

    /**
     * Makes an ordinary operation of one that a connection's {@link Connection#now} has begun and that has not
     * completed successfully.
     *
     * @param result the result of {@link OneOperation#run}, other than {@link OneOperation#COMPLETED}
     */
    public void adopt(
            Connection connection,
            int result,
            boolean write,
            long tag,
            int localKey,
            long remote,
            int remoteKey,
            int bytes) {
        if (result == OneOperation.OTHER_COMPLETION) {
            completions.stashOther();
        }
        connection.adopt(tag, write, localKey, remote, remoteKey, bytes);
        completions.begin(1);
        if (result == OneOperation.FAILED) {
            completions.failLast(connection);
            fail(connection);
        }
    }

    /**
     * Begins to wait for the operations posted on a connection. They may have ended when it returns;
     * {@link Connection#flushing} says whether the drain is still under way. One drain of a connection at a time.
     *
     * @param scratch address to which 8 bytes of the region may be read
     * @return false if the connection has failed, so that the outcome of its operations is unknown
     */
    public boolean drain(Connection connection, RemoteRegion region, long scratch, int scratchKey) {
        if (connection.failed()) {
            return false;
        }
        if (connection.flush(scratch, scratchKey, region.address(), region.remoteKey()) != 0) {
            fail(connection);
            return false;
        }
        completions.beginDrain();
        drained(connection);
        return !connection.failed();
    }

    /**
     * Whether the drain of a connection has ended, with success or not. Other completions are stashed for the owner.
     */
    public boolean drained(Connection connection) {
        return completions.drained(connection);
    }

    /** Describes the operations in flight, for messages. */
    public String describe() {
        StringBuilder text = new StringBuilder();
        for (Connection connection : connections.inUse()) {
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
}
