package io.farheap.bench.peers;

/** Thrown if a peer cannot be measured here; the message is for the report. */
public final class PeerAbsentException extends Exception {

    private static final long serialVersionUID = 1L;

    public PeerAbsentException(String reason) {
        super(reason);
    }

    public PeerAbsentException(String reason, Throwable cause) {
        super(reason, cause);
    }
}
