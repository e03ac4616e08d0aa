package io.farheap.cache;

import io.farheap.cache.batch.SessionBatches;
import io.farheap.cache.handover.HandoverPath;
import io.farheap.cache.order.RequestPath;
import io.farheap.cache.route.Routes;
import io.farheap.cache.session.SessionCore;
import io.farheap.connection.Connection;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.testing.Fields;
import java.util.Optional;

/** Faults of one session's connections. */
final class SessionFaults {

    private SessionFaults() {}

    /** Puts a connection's queue pair into its error state, as a broken link does; the client does not know it yet. */
    static void failConnection(SessionCore session, int server) {
        RequestPath path = Fields.get(session.admission, "path", RequestPath.class);
        if (path instanceof HandoverPath) {
            failConnection(worker(path), server);
            return;
        }
        session.admission.gate().claim();
        try {
            if (path instanceof SessionBatches batches) {
                Optional.ofNullable(batches.connection(server)).ifPresent(BatchConnection::fail);
                path = Fields.get(batches, "engine", RequestPath.class);
            }
            Routes routes = Fields.get(path, "routes", Routes.class);
            Optional.ofNullable(routes.connection(server)).ifPresent(Connection::fail);
        } finally {
            session.admission.gate().unclaim();
        }
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
