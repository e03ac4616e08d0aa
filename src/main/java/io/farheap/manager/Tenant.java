package io.farheap.manager;

import java.util.regex.Pattern;

/**
 * To whom caches belong. Whoever asks for a cache says whose it is, and is believed.
 *
 * @param name as {@link #name(String)} has it
 * @param quota what it may have
 * @param bytes of its caches' capacities, and of what they grow to
 * @param caches that it has
 */
public record Tenant(String name, Quota quota, long bytes, long caches) {

    /** Whose caches are that belong to nobody else. */
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
     * @param name empty for the {@linkplain #DEFAULT default tenant}
     * @return never empty
     * @throws IllegalArgumentException where it is no name
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
