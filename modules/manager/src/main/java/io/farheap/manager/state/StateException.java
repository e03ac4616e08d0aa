package io.farheap.manager.state;

import org.jspecify.annotations.Nullable;

/** Thrown if the state cannot be read or written; the message says if a write may have taken effect nevertheless. */
public class StateException extends RuntimeException {

    public StateException(String message) {
        super(message);
    }

    public StateException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
