package io.farheap.kv;

/** What became of a request to a map. */
public final class KvStatus {

    /** A get found the key, a set has stored it, a delete has taken it out. */
    public static final int DONE = 0;
    /** The key is not in the map. */
    public static final int ABSENT = 1;
    /**
     * A server that the request needed is lost. A set or delete may have taken effect or not; until the server is
     * reached again it is not known which.
     */
    public static final int LOST = 2;
    /** There is no room for the object, and nothing could be evicted that makes room for one of its size. */
    public static final int NO_ROOM = 3;

    private KvStatus() {}

    /** In words, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case DONE -> "done";
            case ABSENT -> "absent";
            case LOST -> "a server is lost";
            case NO_ROOM -> "no room";
            default -> "status " + status;
        };
    }
}
