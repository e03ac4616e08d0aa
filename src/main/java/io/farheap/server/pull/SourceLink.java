package io.farheap.server.pull;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.plane.PullSource;
import io.farheap.verbs.Endpoint;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A source of a pull: the connection to its server, and the export that is open there. One thread at a time. */
public final class SourceLink {

    private final String address;
    private final byte[] token;
    private @Nullable ControlClient control;
    private @Nullable PullSource opened;

    public SourceLink(String address, byte[] token) {
        this.address = address;
        this.token = token.clone();
    }

    boolean isFor(String otherAddress, byte[] otherToken) {
        return address.equals(otherAddress) && Arrays.equals(token, otherToken);
    }

    PullSource open(SourceConnectionPool sources, Endpoint puller) {
        control = sources.take(address);
        opened = control.openPull(token, puller);
        return opened;
    }

    /** Ends the export, and gives the connection to the next pull. Waits for the source. */
    void finish(SourceConnectionPool sources) {
        if (control != null) {
            try {
                end(control);
            } finally {
                sources.giveBack(control);
            }
        }
    }

    /** Ends the export and the connection. Does not wait. */
    void abandon(SourceConnectionPool sources) {
        ControlClient connection = control;
        if (connection != null) {
            sources.closeAfter(() -> end(connection), connection);
        }
    }

    private void end(ControlClient connection) {
        if (opened != null) {
            try {
                connection.closePull(opened.pullId());
            } catch (ControlException e) {
                // The export ends with its lease, or with the source.
            }
        }
    }
}
