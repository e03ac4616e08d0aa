package io.farheap.store.contract;

/** A store cannot be opened, a checkpoint cannot be made, or a blocking operation has failed. */
public final class StoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final int status;

    /** With the status {@link StoreStatus#FAILED}. */
    public StoreException(String message) {
        this(message, StoreStatus.FAILED);
    }

    /** @param status how the operation ended, of {@link StoreStatus} */
    public StoreException(String message, int status) {
        super(message);
        this.status = status;
    }

    /** With the status {@link StoreStatus#FAILED}. */
    public StoreException(String message, Throwable cause) {
        super(message, cause);
        this.status = StoreStatus.FAILED;
    }

    /** The {@link StoreStatus} with which the operation ended. */
    public int status() {
        return status;
    }
}
