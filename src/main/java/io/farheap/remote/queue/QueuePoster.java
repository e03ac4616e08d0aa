package io.farheap.remote.queue;

import io.farheap.connection.Connection;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.verbs.OneOperation;

/**
 * Posts operations on a queue's connections, drains these and fails them; what has ended is for the queue's
 * {@link QueueCompletions}. What a {@code RemoteQueue} and a cache's session have in common. Used inside the queue's
 * gate, or with it claimed. Nothing on the path of an operation allocates.
 */
public final class QueuePoster {

    private final QueueConnections connections;
    private final QueueCompletions completions;
    /** A connection may have a list that is not posted. */
    private boolean listed;

    public QueuePoster(QueueConnections connections, QueueCompletions completions) {
        this.connections = connections;
        this.completions = completions;
    }

    /** Uses a connection for a server from now on; its number must be new, or that of one that is forgotten. */
    public void add(int server, Connection connection) {
        connections.add(server, connection);
        completions.change();
    }

    /**
     * Forgets a connection that is not used any more and whose queue pair has been destroyed.
     *
     * @return false where something of it is to be taken yet, and it stays
     */
    public boolean forget(int number) {
        return completions.forget(number);
    }

    /**
     * Ends the use of a server's connection, if there is one: what is in flight on it fails, and its completions are
     * stashed, since destroying a queue pair would drop them, and free what says which memory they used.
     *
     * @param timeoutNanos how long completions of what has failed may take; without them it has failed all the same
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

    /** Fails the connection to a server, if there is one: what is on its way, and what comes later, is lost. */
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
            // It has failed also where the device does not take that.
            completions.refuse();
        }
    }

    /** Whether a connection could take another operation. */
    public boolean hasRoom(Connection connection) {
        return connection.hasRoom() && completions.hasRoomFor(1);
    }

    /** Whether the completion queue has room for so many more. */
    public boolean hasRoomFor(int count) {
        return completions.hasRoomFor(count);
    }

    /** Operations to a server that are in flight. */
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

    /** As {@link #post}, of a compare-and-swap or a fetch-and-add, with all that waits in the connection's list. */
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
     * So many operations are about to be put into connections' {@linkplain Connection#list lists}; {@link #postLists}
     * posts them.
     */
    public void beginLists(int count) {
        completions.begin(count);
        listed = true;
    }

    /** Whether {@link #postLists} may have something to post. */
    public boolean hasLists() {
        return listed;
    }

    /** @return how many lists there were: a doorbell for each */
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
     * Makes what a connection's {@link Connection#now} has begun and not ended well an operation like others.
     *
     * @param result of {@link OneOperation#run}, but {@link OneOperation#COMPLETED}
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
     * Begins to await what has been posted on a connection. It may be done at once; {@link Connection#flushing} says
     * whether it is under way. One drain of a connection at a time.
     *
     * @param scratch where 8 bytes of the region may land
     * @return false where the connection has failed, so that nothing is known of what it posted
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

    /** Whether the drain of a connection is done, or failed. Other completions are stashed for the owner. */
    public boolean drained(Connection connection) {
        return completions.drained(connection);
    }

    /** The operations that are in flight; for messages. */
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
