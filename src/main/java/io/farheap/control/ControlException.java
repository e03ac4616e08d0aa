package io.farheap.control;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A call of the control plane failed; the code tells the caller what it can do. */
public final class ControlException extends RuntimeException {

    /** The reason of a failure. */
    public enum Code {
        /** Client and server speak different versions of the protocol: update the older one. */
        PROTOCOL_MISMATCH,
        /** The call is not valid, such as a negative count or a malformed address. */
        INVALID_ARGUMENT,
        /** The lease is unknown, closed or was not renewed in time: everything it held has been freed; open another. */
        LEASE_EXPIRED,
        /** The lease does not hold the object that the call names. */
        NOT_FOUND,
        /** Fewer regions are free than were asked for. */
        OUT_OF_MEMORY,
        /**
         * The server requires the grant of a cache manager, and the grant is missing, expired, or for fewer regions:
         * ask the manager.
         */
        GRANT_REFUSED,
        /** The ticket is unknown, used or too old. */
        TICKET_REFUSED,
        /** The copy of a region from another server failed. */
        PULL_FAILED,
        /** The server cannot be reached, or cannot end a connection yet: call again. */
        UNAVAILABLE,
        /** The server has not answered in time. */
        DEADLINE_EXCEEDED,
        /** The server has as many calls as it accepts, in total or from this caller: call again later. */
        BUSY,
        /** The server's answer is not valid, and nothing in it was used. */
        BAD_REPLY,
        /** The calling thread was interrupted, or the client was closed, during the call. */
        CANCELLED,
        /** Anything else: a defect. */
        INTERNAL
    }

    private final Code code;

    public ControlException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** @param message null only if the cause has none either */
    public ControlException(Code code, @Nullable String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    /** The reason of the failure. */
    public Code code() {
        return code;
    }

    @Override
    public String getMessage() {
        return Objects.requireNonNullElse(super.getMessage(), code.name());
    }
}
