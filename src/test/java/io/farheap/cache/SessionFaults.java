package io.farheap.cache;

import io.farheap.cache.batch.SessionBatches;
import io.farheap.cache.handover.HandoverPath;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.route.Routes;
import io.farheap.cache.session.SessionCore;
import io.farheap.connection.Connection;
import io.farheap.remote.queue.QueueCompletions;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.testing.Fields;
import java.util.Optional;

/** Faults of one session's connections. */
final class SessionFaults {

    private SessionFaults() {}

    /** Puts a connection's queue pair into its error state, as a broken link does; the client does not know it yet. */
    static void failConnection(SessionCore session, int server) {
        SessionCore posting = posting(session);
        posting.admission.gate().claim();
        try {
            Optional.ofNullable(rings(posting, server)).ifPresent(BatchConnection::fail);
            Optional.ofNullable(oneSided(posting, server)).ifPresent(Connection::fail);
        } finally {
            posting.admission.gate().unclaim();
        }
    }

    /** The same, of a session's connection for one-sided operations alone. */
    static void failOneSided(SessionCore session, int server) {
        SessionCore posting = posting(session);
        posting.admission.gate().claim();
        try {
            Optional.ofNullable(oneSided(posting, server)).ifPresent(Connection::fail);
        } finally {
            posting.admission.gate().unclaim();
        }
    }

    /**
     * Returns when the session's next poll finds that one-sided operations have failed; at once if there are none, or
     * if a client thread polls.
     */
    static void awaitFailure(SessionCore session, int server) {
        if (posting(session) != session) {
            return;
        }
        QueueCompletions completions = Fields.get(
                Fields.get(engine(session), "completions", Object.class), "completions", QueueCompletions.class);
        for (boolean found = false; !found; Thread.yield()) {
            session.admission.gate().claim();
            try {
                Connection connection = oneSided(session, server);
                found = connection == null || connection.inFlight() == 0 || completions.hasSome();
            } finally {
                session.admission.gate().unclaim();
            }
        }
    }

    /** How many one-sided operations of a session are on their way to a server. */
    static int oneSidedInFlight(SessionCore session, int server) {
        session.admission.gate().claim();
        try {
            return oneSided(session, server).inFlight();
        } finally {
            session.admission.gate().unclaim();
        }
    }

    /** Returns when the session has connections to a server that have not failed. It is not polled meanwhile. */
    static void awaitConnected(SessionCore session, int server) {
        SessionCore posting = posting(session);
        for (boolean connected = false; !connected; Thread.yield()) {
            posting.admission.gate().claim();
            try {
                Connection connection = oneSided(posting, server);
                BatchConnection rings = rings(posting, server);
                boolean batched = Fields.get(posting.admission, "path", RequestPath.class) instanceof SessionBatches;
                connected = connection != null
                        && !connection.failed()
                        && (batched ? rings != null && !rings.failed() : rings == null);
            } finally {
                posting.admission.gate().unclaim();
            }
        }
    }

    private static RequestPath engine(SessionCore posting) {
        RequestPath path = Fields.get(posting.admission, "path", RequestPath.class);
        return path instanceof SessionBatches ? Fields.get(path, "engine", RequestPath.class) : path;
    }

    private static Connection oneSided(SessionCore posting, int server) {
        return Fields.get(engine(posting), "routes", Routes.class).connection(server);
    }

    private static BatchConnection rings(SessionCore posting, int server) {
        return Fields.get(posting.admission, "path", RequestPath.class) instanceof SessionBatches batches
                ? batches.connection(server)
                : null;
    }

    /** @return the session that posts the requests of this one: its own, or that of its client thread */
    static SessionCore posting(SessionCore session) {
        RequestPath path = Fields.get(session.admission, "path", RequestPath.class);
        return path instanceof HandoverPath ? worker(path) : session;
    }

    private static SessionCore worker(RequestPath path) {
        return Fields.get(Fields.get(path, "thread", Object.class), "worker", SessionCore.class);
    }

    /** Returns when the client thread, if there is one, has taken this number of requests. */
    static void awaitTaken(CacheSession session, int requests) {
        SessionCore posting = posting(session.core());
        for (int taken = 0; posting != session.core() && taken < requests; Thread.yield()) {
            posting.admission.gate().claim();
            try {
                taken = Fields.get(posting.admission, "path", RequestPath.class).pending();
            } finally {
                posting.admission.gate().unclaim();
            }
        }
    }
}
