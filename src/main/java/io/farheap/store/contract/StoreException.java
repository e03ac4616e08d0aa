package io.farheap.store.contract;

/** A store cannot be opened, a checkpoint cannot be made, or an operation that waits for its end has failed. */
public final class StoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;

    public StoreException(String message) {
        this(message, StoreStatus.FAILED);
    }

    /** @param status how the operation ended, of {@link StoreStatus} */
    public StoreException(String message, int status) {
        super(message);
        this.status = status;
    }

    public StoreException(String message, Throwable cause) {
        super(message, cause);
        this.status = StoreStatus.FAILED;
    }

    /** Of an operation: how it ended, of {@link StoreStatus}. */
    public int status() {
        return status;
    }
}
