package io.farheap.kv.contract;

/** The outcomes of requests to a map. */
public final class KvStatus {

    /** A get has found the key, a delete has removed it, or another request has done its work. */
    public static final int DONE = 0;
    /** The key is not in the map. */
    public static final int ABSENT = 1;
    /**
     * A server that the request needed cannot be reached, or its lease is lost. A request that changes the map may have
     * taken effect or not. After its connection has been made again, a request reads its slot to learn whether it took
     * effect, so it ends like this only if the slot does not tell: another client has changed the slot since, a delete
     * finds it changed, possibly by itself, or a set of a new key finds it empty as it was before. A request that
     * stores also ends like this, with the map as before, if the session has used all versions of its number, and the
     * map's first server has not given it another number yet.
     */
    public static final int LOST = 2;
    /** There is no room for the object, and nothing could be evicted that makes room for one of its size. */
    public static final int NO_ROOM = 3;

    /** An add has found the key. */
    public static final int EXISTS = 4;
    /** A compare-and-set has found another version of the object. */
    public static final int CHANGED = 5;
    /** An increment has found a value that does not have 8 bytes. */
    public static final int NOT_A_NUMBER = 6;
    /** This process has no memory for the pieces of a value that is to be read or stored. The map is as before. */
    public static final int NO_MEMORY = 7;
    /**
     * The session has used all versions of its number, and the map has no other number for it: it has had 2^36 - 1
     * sessions. The map is as before. Create another map.
     */
    public static final int NO_VERSION = 8;

    private KvStatus() {}

    /** A status in words, for messages. */
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
            case NO_VERSION -> "the map has had as many sessions as it can have";
            default -> "status " + status;
        };
    }
}
