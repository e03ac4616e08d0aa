package io.farheap.manager.state;

import org.jspecify.annotations.Nullable;

/** The state cannot be read or written; the message says whether a write may have happened all the same. */
public class StateException extends RuntimeException {

    public StateException(String message) {
        super(message);
    }

    public StateException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
