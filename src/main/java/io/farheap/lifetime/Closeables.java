package io.farheap.lifetime;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Closes several resources: each of them is closed, whatever the others throw. */
public final class Closeables {

    private Closeables() {}

    /**
     * Closes resources in this order; null stands for one that was not opened. What the first throws comes out when all
     * are closed, with what later ones throw suppressed in it.
     */
    public static void all(@Nullable AutoCloseable... resources) {
        all(Arrays.asList(resources));
    }

    /** As {@link #all(AutoCloseable...)}. */
    public static void all(Iterable<? extends @Nullable AutoCloseable> resources) {
        Throwable first = null;
        for (AutoCloseable resource : resources) {
            try {
                if (resource != null) {
                    resource.close();
                }
            } catch (Throwable e) {
                first = first == null ? e : suppress(first, e);
            }
        }
        switch (first) {
            case null -> {}
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException("cannot close: " + first.getMessage(), first);
        }
    }

    /** Closes what was opened before a failure, which stays the one to tell: it suppresses what closing throws. */
    public static void after(Throwable failure, @Nullable AutoCloseable... resources) {
        try {
            all(resources);
        } catch (Throwable e) {
            suppress(failure, e);
        }
    }

    private static Throwable suppress(Throwable first, Throwable next) {
        // An exception that is kept and thrown again cannot be suppressed in itself.
        if (first != next) {
            first.addSuppressed(next);
        }
        return first;
    }
}
