package io.farheap.remote.queue;

import io.farheap.connection.Connection;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A queue's connections. Used inside the queue's gate, or with it claimed; allocates only when a connection is added.
 */
public final class QueueConnections {

    /**
     * By number, including replaced connections until they are {@linkplain #forget(int) forgotten}: a completion of
     * theirs may still arrive.
     */
    private @Nullable Connection[] byNumber = new Connection[0];
    /** By number: the index of the connection's server. */
    private int[] serverOf = new int[0];
    /** By number: whether the server's end is destroyed, so that nothing of the connection takes effect any more. */
    private boolean[] fenced = new boolean[0];
    /** The connection to use for each server. */
    private @Nullable Connection[] byServer = new Connection[0];

    /** Makes an empty set of connections. */
    public QueueConnections() {}

    /** Uses a connection for a server from now on; its number must be new, or that of a forgotten connection. */
    void add(int server, Connection connection) {
        if (connection.number() >= byNumber.length) {
            byNumber = Arrays.copyOf(byNumber, connection.number() + 1);
            serverOf = Arrays.copyOf(serverOf, connection.number() + 1);
            fenced = Arrays.copyOf(fenced, connection.number() + 1);
        }
        byNumber[connection.number()] = connection;
        serverOf[connection.number()] = server;
        fenced[connection.number()] = false;
        if (server >= byServer.length) {
            byServer = Arrays.copyOf(byServer, server + 1);
        }
        byServer[server] = connection;
    }

    /** Ends posting to a server. Completions of its connection may still arrive. */
    void leave(int server) {
        byServer[server] = null;
    }

    /** Marks all connections to a server as fenced, except the one in use. */
    public void fenced(int server) {
        for (int number = 0; number < byNumber.length; number++) {
            fenced[number] |= serverOf[number] == server && byNumber[number] != to(server);
        }
    }

    /** The connection with a number; null if there is none, or it is forgotten. */
    @Nullable
    Connection find(int number) {
        return number < byNumber.length ? byNumber[number] : null;
    }

    /** Forgets a connection of which nothing is to be taken any more: another may get its number. */
    void forget(int number) {
        byNumber[number] = null;
    }

    public void forgetServers() {
        Arrays.fill(byServer, null);
    }

    /**
     * The connection to use for a server, or null. The owner may also call it outside the gate, and the answer may then
     * be out of date.
     */
    public @Nullable Connection to(int server) {
        // Loaded once, since another thread may replace it.
        @Nullable Connection[] now = byServer;
        return server < now.length ? now[server] : null;
    }

    /** The connection to use for a server. There must be one. */
    // The caller has checked that there is one.
    @SuppressWarnings("NullAway")
    public Connection present(int server) {
        return byServer[server];
    }

    /** The connection that a completion belongs to. */
    // Each completion belongs to an operation that one of the connections posted.
    @SuppressWarnings("NullAway")
    Connection of(long id) {
        return byNumber[Connection.connectionOf(id)];
    }

    /** The connections in use, by server index; the caller must not change the array. */
    @Nullable
    Connection[] inUse() {
        return byServer;
    }

    /** All connections that are not forgotten, by number; the caller must not change the array. */
    @Nullable
    Connection[] all() {
        return byNumber;
    }

    public boolean usesLocal(int localKey) {
        for (Connection connection : byNumber) {
            if (connection != null && connection.used().local(localKey)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether an operation on a server uses memory under a key; two servers may use the same key.
     *
     * @param done accepts the ids of operations that are known to be done and have not been taken
     */
    boolean usesRemote(int server, int remoteKey, LongPredicate done) {
        for (int number = 0; number < byNumber.length; number++) {
            Connection connection = byNumber[number];
            if (connection != null
                    && serverOf[number] == server
                    && !fenced[number]
                    && connection.used().remote(remoteKey, done)) {
                return true;
            }
        }
        return false;
    }
}
