package io.farheap.kv.contract;

/** What became of a request to a map. */
public final class KvStatus {

    /** A get found the key, a delete has taken it out; what else was asked for has been done. */
    public static final int DONE = 0;
    /** The key is not in the map. */
    public static final int ABSENT = 1;
    /**
     * A server that the request needed cannot be reached, or its lease is lost. What changes the map may have taken
     * effect or not. Where its connection was made again, that is so only if its slot does not tell: others have
     * changed it since; a delete finds it changed, which may be its own doing; or a set of a new key finds it empty, as
     * it was before.
     */
    public static final int LOST = 2;
    /** There is no room for the object, and nothing could be evicted that makes room for one of its size. */
    public static final int NO_ROOM = 3;

    /** An add that found the key. */
    public static final int EXISTS = 4;
    /** A compare-and-set that found another version of the object. */
    public static final int CHANGED = 5;
    /** An increment of a value that does not have 8 bytes. */
    public static final int NOT_A_NUMBER = 6;
    /** A value in pieces is to be read or stored, and this process has no memory for it. The map is as before. */
    public static final int NO_MEMORY = 7;

    private KvStatus() {}

    /** In words, for messages. */
    public static String describe(int status) {
        return switch (status) {
            case DONE -> "done";
            case ABSENT -> "absent";
            case LOST -> "a server is lost";
            case NO_ROOM -> "no room";
            case EXISTS -> "it is there already";
            case CHANGED -> "changed since";
            case NOT_A_NUMBER -> "not a number of 8 bytes";
            case NO_MEMORY -> "this process has no memory for the value";
            default -> "status " + status;
        };
    }
}
