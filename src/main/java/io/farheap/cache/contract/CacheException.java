package io.farheap.cache.contract;

import org.jspecify.annotations.Nullable;

/** Thrown if a blocking request fails, or an operation that creates, moves, changes or deletes a cache. */
public final class CacheException extends RuntimeException {

    private final int status;

    public CacheException(String message) {
        this(message, Status.OK, null);
    }

    public CacheException(String message, Throwable cause) {
        this(message, Status.OK, cause);
    }

    /** @param status the {@link Status} with which the request ended */
    public CacheException(String message, int status) {
        this(message, status, null);
    }

    private CacheException(String message, int status, @Nullable Throwable cause) {
        super(message, cause);
        this.status = status;
    }

    /** The {@link Status} of the request that failed, or {@link Status#OK} if the exception is not about a request. */
    public int status() {
        return status;
    }
}
