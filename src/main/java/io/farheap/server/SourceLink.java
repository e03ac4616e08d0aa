package io.farheap.server;

import io.farheap.control.ControlClient;
import io.farheap.control.ControlException;
import io.farheap.control.PullSource;
import io.farheap.verbs.Endpoint;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A server that a pull reads: the connection to it, and the export that it has opened. One thread at a time. */
final class SourceLink {

    private final String address;
    private final byte[] token;
    private final ControlClient control;
    private @Nullable PullSource opened;

    SourceLink(String address, byte[] token, ControlClient control) {
        this.address = address;
        this.token = token.clone();
        this.control = control;
    }

    boolean isFor(String otherAddress, byte[] otherToken) {
        return address.equals(otherAddress) && Arrays.equals(token, otherToken);
    }

    PullSource open(Endpoint puller) {
        PullSource source = control.openPull(token, puller);
        opened = source;
        return source;
    }

    void closeQuietly() {
        if (opened != null) {
            try {
                control.closePull(opened.pullId());
            } catch (ControlException e) {
                // It ends with the exporting lease, or with the source.
            }
        }
    }

    /** The connection goes to the next pull. */
    void giveBack(SourceServers sources) {
        sources.giveBack(control);
    }

    void close() {
        control.close();
    }
}
