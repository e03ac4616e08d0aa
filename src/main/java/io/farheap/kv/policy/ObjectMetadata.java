package io.farheap.kv.policy;

/**
 * The information about one object: a session fills it from a slot that it has read, passes it to policies, and reuses
 * it for the next object. One thread. Times are ticks of the map's clock, at least 1. Other clients write the slot
 * meanwhile, so its parts may be of different moments and of different objects: every value is possible, and a policy
 * must accept them all.
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

    /** Size, latency and cost are 1 at first, everything else is 0. */
    public ObjectMetadata() {}

    /** The time at which the object was inserted. */
    public long insertTime() {
        return insertTime;
    }

    public ObjectMetadata insertTime(long ticks) {
        insertTime = ticks;
        return this;
    }

    /** The time of the last access; at its insertion, that time. */
    public long lastAccess() {
        return lastAccess;
    }

    public ObjectMetadata lastAccess(long ticks) {
        lastAccess = ticks;
        return this;
    }

    /** The number of accesses, its insertion included, as far as clients have sent their counts. */
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

    /** The time from which the object is no longer found; 0 for never. */
    public long expiry() {
        return expiry;
    }

    public ObjectMetadata expiry(long ticks) {
        expiry = ticks;
        return this;
    }

    /** Whether the object has expired. */
    public boolean expired() {
        return expiry != 0 && expiry <= now;
    }

    /**
     * An estimate of the latency of an access, in a unit that the creator of this object chooses. A map's sessions
     * leave it 1.
     */
    public double latency() {
        return latency;
    }

    public ObjectMetadata latency(double estimate) {
        latency = estimate;
        return this;
    }

    /**
     * An estimate of the cost of fetching the object again, in a unit that the creator of this object chooses. A map's
     * sessions leave it 1, so that all objects cost the same.
     */
    public double cost() {
        return cost;
    }

    public ObjectMetadata cost(double estimate) {
        cost = estimate;
        return this;
    }

    /** The current time: of the access, or of the choice of a victim. */
    public long now() {
        return now;
    }

    public ObjectMetadata now(long ticks) {
        now = ticks;
        return this;
    }

    /** Sets the first word of the policy that is asked next: each policy of a map has words of its own. */
    public void firstWord(int word) {
        firstWord = word;
    }

    /**
     * A word that the policy keeps with the object; all are 0 in a new object.
     *
     * @param word 0 to {@link EvictionPolicy#extensionWords} - 1, as of the other methods of words
     */
    public long extension(int word) {
        return extension[firstWord + word];
    }

    public ObjectMetadata extension(int word, long value) {
        extension[firstWord + word] = value;
        return this;
    }

    /**
     * A word as a double; that of a new object is 0. A value that is not finite, which memory may contain, counts as 0.
     */
    public double extensionNumber(int word) {
        double number = Double.longBitsToDouble(extension(word));
        return Double.isFinite(number) ? number : 0;
    }

    public ObjectMetadata extensionNumber(int word, double value) {
        return extension(word, Double.doubleToRawLongBits(value));
    }
}
