package io.farheap.remote.server;

import io.farheap.connection.Connection;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.VerbsException;
import io.farheap.verbs.WcStatus;
import java.util.function.Function;

/**
 * Reads 8 bytes of each new region before sessions use it. A device that maps a peer's memory on first use (softverbs
 * does) then maps it here, in a call that may take long, and not in a session's critical call.
 */
final class RegionWarmer implements AutoCloseable {

    private static final long TIMEOUT_NANOS = 10_000_000_000L;

    private final ProtectionDomain domain;
    private final Function<Connection, ServerConnection> connect;
    private final CompletionQueue completions;
    private RegisteredMemory scratch;
    private ServerConnection connection;
    private boolean closed;

    /** @param connect connects to the regions' server */
    RegionWarmer(ProtectionDomain domain, Function<Connection, ServerConnection> connect) {
        this.domain = domain;
        this.connect = connect;
        completions = domain.context().createCompletionQueue(4, 1, null);
        try {
            scratch = RegisteredMemory.allocate(domain, "farheap-warmer", Long.BYTES, Access.LOCAL_WRITE);
            connection = connect();
        } catch (Throwable e) {
            Closeables.after(e, this);
            throw e;
        }
    }

    private ServerConnection connect() {
        return connect.apply(Connection.create(domain, completions, 0, 1, 0, 1));
    }

    /** @param region its name, for messages */
    synchronized void warm(String region, long address, int remoteKey) {
        if (closed) {
            throw new VerbsException("its server is not used any more, so no session reads from " + region);
        }
        if (connection.connection().failed()) {
            connection.close();
            connection = connect();
        }
        Connection reader = connection.connection();
        int error = reader.flush(scratch.address(), scratch.localKey(), address, remoteKey);
        if (error != 0) {
            throw new VerbsException("cannot read from " + region, error);
        }
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (completions.poll() == 0) {
            if (System.nanoTime() - deadline > 0) {
                reader.fail();
                throw new VerbsException("no answer from " + region + " in " + TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            Thread.onSpinWait();
        }
        reader.complete(completions.id(0), completions.status(0));
        if (completions.status(0) != WcStatus.SUCCESS) {
            throw new VerbsException("cannot read from " + region + ": " + WcStatus.describe(completions.status(0)));
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        Closeables.all(connection, scratch, completions);
    }
}
