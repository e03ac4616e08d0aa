package io.farheap.manager;

/**
 * What a tenant may have at most.
 *
 * @param bytes of all of its caches' capacities, together; {@link #UNLIMITED} for no limit
 * @param caches how many; {@link #UNLIMITED} for no limit
 */
public record Quota(long bytes, long caches) {

    public static final long UNLIMITED = Long.MAX_VALUE;

    /** Of a tenant for which nobody has set one. */
    public static final Quota NONE = new Quota(UNLIMITED, UNLIMITED);

    public Quota {
        if (bytes < 0 || caches < 0) {
            throw new IllegalArgumentException("a quota of " + Long.toUnsignedString(bytes) + " bytes and "
                    + Long.toUnsignedString(caches) + " caches; each is 0 to " + Long.MAX_VALUE);
        }
    }
}
