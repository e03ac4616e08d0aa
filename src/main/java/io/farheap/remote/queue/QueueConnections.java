package io.farheap.remote.queue;

import io.farheap.connection.Connection;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** A queue's connections. Used inside the queue's gate, or with it claimed; allocates only where one is added. */
public final class QueueConnections {

    /**
     * By their number, also those that were replaced, until they are {@linkplain #forget(int) forgotten}: a completion
     * of theirs may still come.
     */
    private @Nullable Connection[] byNumber = new Connection[0];
    /** The index of each one's server. */
    private int[] serverOf = new int[0];
    /** Of each one whether its server's end is destroyed: nothing of it takes effect any more. */
    private boolean[] fenced = new boolean[0];
    /** The one to use for each server. */
    private @Nullable Connection[] byServer = new Connection[0];

    /** With none. */
    public QueueConnections() {}

    /** Uses a connection for a server from now on; its number must be new, or that of one that is forgotten. */
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

    /** Posts no more to a server. Completions of its connection may still come. */
    void leave(int server) {
        byServer[server] = null;
    }

    /** Those to a server but the one in use are. */
    public void fenced(int server) {
        for (int number = 0; number < byNumber.length; number++) {
            fenced[number] |= serverOf[number] == server && byNumber[number] != to(server);
        }
    }

    /** The one with a number; null where there is none, or it is forgotten. */
    @Nullable
    Connection find(int number) {
        return number < byNumber.length ? byNumber[number] : null;
    }

    /** Nothing of the one with a number is to be taken any more: another may have the number. */
    void forget(int number) {
        byNumber[number] = null;
    }

    public void forgetServers() {
        Arrays.fill(byServer, null);
    }

    /** The one to use for a server, or null. The owner also outside the gate, where it may be out of date. */
    public @Nullable Connection to(int server) {
        // Once: another thread may replace it.
        @Nullable Connection[] now = byServer;
        return server < now.length ? now[server] : null;
    }

    /** The one to use for a server, where there is one. */
    // That there is has been checked.
    @SuppressWarnings("NullAway")
    public Connection present(int server) {
        return byServer[server];
    }

    /** The one of a completion. */
    // What completes was posted by one of them.
    @SuppressWarnings("NullAway")
    Connection of(long id) {
        return byNumber[Connection.connectionOf(id)];
    }

    /** Those in use, by their server; not to be changed. */
    @Nullable
    Connection[] inUse() {
        return byServer;
    }

    /** All that there have been, by their number; not to be changed. */
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
     * Two servers may give the same key.
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
