package io.farheap.manager;

/**
 * The limits of a tenant.
 *
 * @param bytes capacity of all its caches together; {@link #UNLIMITED} for no limit
 * @param caches how many; {@link #UNLIMITED} for no limit
 */
public record Quota(long bytes, long caches) {

    /** A value for no limit. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    /** No limits: the quota of a tenant for which none has been set. */
    public static final Quota NONE = new Quota(UNLIMITED, UNLIMITED);

    public Quota {
        if (bytes < 0 || caches < 0) {
            throw new IllegalArgumentException("a quota of " + Long.toUnsignedString(bytes) + " bytes and "
                    + Long.toUnsignedString(caches) + " caches; each is 0 to " + Long.MAX_VALUE);
        }
    }
}
