package io.farheap.control.plane;

import org.jspecify.annotations.Nullable;

/**
 * The caller of a {@link ControlPlane} over the network; the server limits what one caller may hold, so that it cannot
 * take the share of others.
 *
 * @param host the peer's address
 * @param connection one of the host's connections, with its port: usually one client process with all of its caches
 */
public record Caller(String host, String connection) {

    private static final ScopedValue<Caller> CURRENT = ScopedValue.newInstance();

    /** The caller of the call that this thread serves; null if the caller is in this process. */
    public static @Nullable Caller current() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** Runs an action on a caller's behalf, even after the call is cancelled. */
    public static void run(Caller caller, Runnable action) {
        ScopedValue.where(CURRENT, caller).run(action);
    }
}
