package io.farheap.kv;

/** A request that waits has failed. */
public final class MapException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final int status;

    MapException(int status) {
        super(message(status));
        this.status = status;
    }

    private static String message(int status) {
        return status == KvStatus.NO_ROOM
                ? "there is no room for the object, and nothing could be evicted that makes room for one of its size"
                : "a server that the request needs is lost: whether it took effect is not known";
    }

    /** One of {@link KvStatus}. */
    public int status() {
        return status;
    }
}
