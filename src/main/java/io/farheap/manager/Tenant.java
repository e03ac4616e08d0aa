package io.farheap.manager;

import java.util.regex.Pattern;

/**
 * The owner of caches. A client names the tenant when it asks for a cache; the manager does not verify it.
 *
 * @param name as {@link #name(String)} returns it
 * @param quota the limits of the tenant
 * @param bytes capacity of its caches, including what they are growing to
 * @param caches how many it has
 */
public record Tenant(String name, Quota quota, long bytes, long caches) {

    /** The owner of caches for which no tenant was named. */
    public static final String DEFAULT = "default";

    private static final int MAX_NAME = 64;
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0," + (MAX_NAME - 1) + "}");

    public Tenant {
        name = name(name);
        if (bytes < 0 || caches < 0) {
            throw new IllegalArgumentException("a tenant with " + caches + " caches of " + bytes + " bytes");
        }
    }

    /**
     * The name of a tenant.
     *
     * @param name empty for the {@linkplain #DEFAULT default tenant}
     * @return never empty
     * @throws IllegalArgumentException if it is not a valid name
     */
    public static String name(String name) {
        if (name.isEmpty()) {
            return DEFAULT;
        }
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("a tenant's name is 1 to " + MAX_NAME
                    + " letters, digits, dots, dashes and underscores, of which the first is a letter or a digit");
        }
        return name;
    }
}
