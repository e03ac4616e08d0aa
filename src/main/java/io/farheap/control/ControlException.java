package io.farheap.control;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A call of the control plane failed; the code says what the caller can do about it. */
public final class ControlException extends RuntimeException {

    /** What went wrong. */
    public enum Code {
        /** Client and server speak different versions of the protocol: update the older one. */
        PROTOCOL_MISMATCH,
        /** The call makes no sense, such as a negative count or a malformed address. */
        INVALID_ARGUMENT,
        /** The lease is unknown, closed or was not renewed in time: everything it held is gone; open another. */
        LEASE_EXPIRED,
        /** The lease does not hold what the call names. */
        NOT_FOUND,
        /** Fewer regions are free than were asked for. */
        OUT_OF_MEMORY,
        /** The server does what a cache manager says, whose grant is missing, over, or for less: ask the manager. */
        GRANT_REFUSED,
        /** The ticket is unknown, used or too old. */
        TICKET_REFUSED,
        /** The copy of a region from another server failed. */
        PULL_FAILED,
        /** The server cannot be reached. */
        UNAVAILABLE,
        /** The server has not answered in time. */
        DEADLINE_EXCEEDED,
        /** The server, or the caller's part of it, has as much to do as it takes on: call again later. */
        BUSY,
        /** The server's answer makes no sense, and nothing of it was used. */
        BAD_REPLY,
        /** The calling thread was interrupted, or the client was closed, while the call was under way. */
        CANCELLED,
        /** Anything else: a defect. */
        INTERNAL
    }

    private final Code code;

    public ControlException(Code code, String message) {
        super(message);
        this.code = code;
    }

    /** @param message null only where the cause has none either */
    public ControlException(Code code, @Nullable String message, Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public Code code() {
        return code;
    }

    @Override
    public String getMessage() {
        return Objects.requireNonNullElse(super.getMessage(), code.name());
    }
}
