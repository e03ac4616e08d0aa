package io.farheap.kv.contract;

/** A map cannot be created or opened, or a request that a thread waits for has failed. */
public final class MapException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final boolean forGood;

    /** @param message with the cause and a remedy */
    public MapException(String message) {
        this(message, false);
    }

    private MapException(String message, boolean forGood) {
        super(message);
        this.forGood = forGood;
    }

    /**
     * A failure to open a map that has ended.
     *
     * @param message with the cause and a remedy
     */
    public static MapException forGood(String message) {
        return new MapException(message, true);
    }

    /** Whether no later attempt can succeed, as the map has ended. */
    public boolean isForGood() {
        return forGood;
    }

    /**
     * Whether a request that ends with this status has failed, as opposed to an answer such as {@link KvStatus#ABSENT}.
     */
    public static boolean isOf(int status) {
        return switch (status) {
            case KvStatus.LOST, KvStatus.NO_ROOM, KvStatus.NOT_A_NUMBER, KvStatus.NO_MEMORY, KvStatus.NO_VERSION ->
                true;
            default -> false;
        };
    }

    /** @param status one of {@link KvStatus}, of a request that has failed */
    public static MapException of(int status) {
        return of(status, "");
    }

    /** @param trouble what is known to be wrong with the map's servers, for the message */
    public static MapException of(int status, String trouble) {
        return new MapException(
                switch (status) {
                    case KvStatus.NO_ROOM ->
                        "there is no room for the object, and nothing could be evicted that makes room for one of its"
                                + " size; give the map more memory" + trouble;
                    case KvStatus.NOT_A_NUMBER ->
                        "the value that was to be added to does not have 8 bytes; store a number of 8 bytes there"
                                + " first";
                    case KvStatus.NO_MEMORY ->
                        "this process has no memory for a value in pieces, and the map is as before; give the process"
                                + " more";
                    case KvStatus.NO_VERSION ->
                        "the session has given all of its versions, and the map has had 2^36 - 1 sessions, which is the"
                                + " limit, as versions would return; the map is as before: create another map";
                    default -> "a server that the request needs is lost: whether it took effect is not known" + trouble;
                });
    }
}
