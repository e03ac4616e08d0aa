package io.farheap.lifetime;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Closes several resources: each of them, even if another close throws. */
public final class Closeables {

    private Closeables() {}

    /**
     * Closes resources in this order; null stands for one that was not opened. The first exception is thrown when all
     * are closed, with later ones suppressed in it.
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

    /** Closes resources that were opened before a failure; exceptions of their closes are suppressed in the failure. */
    public static void after(Throwable failure, @Nullable AutoCloseable... resources) {
        try {
            all(resources);
        } catch (Throwable e) {
            suppress(failure, e);
        }
    }

    private static Throwable suppress(Throwable first, Throwable next) {
        // The same exception may be thrown twice, and cannot be suppressed in itself.
        if (first != next) {
            first.addSuppressed(next);
        }
        return first;
    }
}
