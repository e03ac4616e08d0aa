package io.farheap.kv.policy;

/**
 * What is known of one object: filled in from a slot that was read, then given to policies, then used for the next. One
 * thread. Times are ticks of the map's clock, at least 1. As others write the slot meanwhile, its parts may be of
 * different moments and of different objects: every value is possible, and a policy takes them all.
 */
public final class ObjectMetadata {

    /** Words of 8 bytes that a policy may keep with each object. */
    public static final int EXTENSION_WORDS = 4;

    private long insertTime;
    private long lastAccess;
    private long frequency;
    private long size = 1;
    private long expiry;
    private double latency = 1;
    private double cost = 1;
    private long now;
    private final long[] extension = new long[EXTENSION_WORDS];
    private int firstWord;

    public ObjectMetadata() {}

    /** When the object came into the cache. */
    public long insertTime() {
        return insertTime;
    }

    public ObjectMetadata insertTime(long ticks) {
        insertTime = ticks;
        return this;
    }

    /** When it was last accessed; at its insertion, that time. */
    public long lastAccess() {
        return lastAccess;
    }

    public ObjectMetadata lastAccess(long ticks) {
        lastAccess = ticks;
        return this;
    }

    /** How often it was accessed, its insertion included, as far as clients have said so. */
    public long frequency() {
        return frequency;
    }

    public ObjectMetadata frequency(long accesses) {
        frequency = accesses;
        return this;
    }

    /** In units of 64 bytes, at least 1. */
    public long size() {
        return size;
    }

    /** A size below 1, which no object has, counts as 1. */
    public ObjectMetadata size(long units) {
        size = Math.max(1, units);
        return this;
    }

    /** When it is no longer to be found; 0 never. */
    public long expiry() {
        return expiry;
    }

    public ObjectMetadata expiry(long ticks) {
        expiry = ticks;
        return this;
    }

    /** Whether its time is over. */
    public boolean expired() {
        return expiry != 0 && expiry <= now;
    }

    /** How long this client thinks that an access takes, in a unit that the client chooses. */
    public double latency() {
        return latency;
    }

    public ObjectMetadata latency(double estimate) {
        latency = estimate;
        return this;
    }

    /** How dear this client thinks that fetching the object again is, in a unit that the client chooses. */
    public double cost() {
        return cost;
    }

    public ObjectMetadata cost(double estimate) {
        cost = estimate;
        return this;
    }

    /** The time of what is being done: of the access, or of the choice of a victim. */
    public long now() {
        return now;
    }

    public ObjectMetadata now(long ticks) {
        now = ticks;
        return this;
    }

    /** Where the words of the policy that is asked next begin: policies of one map have words of their own. */
    public void firstWord(int word) {
        firstWord = word;
    }

    /** A word of what the policy keeps with the object; all are 0 in a new object. */
    public long extension(int word) {
        return extension[firstWord + word];
    }

    public ObjectMetadata extension(int word, long value) {
        extension[firstWord + word] = value;
        return this;
    }

    /** A word as a number; that of a new object is 0. What is no number, as memory may say, counts as 0. */
    public double extensionNumber(int word) {
        double number = Double.longBitsToDouble(extension(word));
        return Double.isFinite(number) ? number : 0;
    }

    public ObjectMetadata extensionNumber(int word, double value) {
        return extension(word, Double.doubleToRawLongBits(value));
    }
}
