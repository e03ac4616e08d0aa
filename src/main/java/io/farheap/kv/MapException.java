package io.farheap.kv;

/** A map cannot be had, or a request that waits has failed. */
public final class MapException extends RuntimeException {

    private static final long serialVersionUID = 1;

    MapException(String message) {
        super(message);
    }

    /** @param status one of {@link KvStatus}, of a request */
    static MapException of(int status) {
        return new MapException(
                status == KvStatus.NO_ROOM
                        ? "there is no room for the object, and nothing could be evicted that makes room for one of its"
                                + " size; give the map more memory"
                        : "a server that the request needs is lost: whether it took effect is not known");
    }
}
