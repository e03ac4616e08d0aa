package io.farheap.bench.peers;

/** Why a peer cannot be measured here; the message is what the report says. */
public final class AbsentException extends Exception {

    private static final long serialVersionUID = 1L;

    public AbsentException(String reason) {
        super(reason);
    }

    public AbsentException(String reason, Throwable cause) {
        super(reason, cause);
    }
}
