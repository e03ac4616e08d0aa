package io.farheap.tier.device;

/** Files are not as they should be, or the system refuses a call. */
public final class StorageException extends RuntimeException {

    public StorageException(String message) {
        super(message);
    }

    public StorageException(String message, Throwable cause) {
        super(message, cause);
    }
}
