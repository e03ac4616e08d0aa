package io.farheap.control.plane;

import org.jspecify.annotations.Nullable;

/**
 * The caller of a {@link ControlPlane} over the network, so that one client cannot take what others need.
 *
 * @param host the peer's address: what a client can have only so many of
 * @param connection one of the host's, with its port: one client process with all of its caches, as a rule
 */
public record Caller(String host, String connection) {

    private static final ScopedValue<Caller> CURRENT = ScopedValue.newInstance();

    /** Of the call that this thread serves, or null: then the caller is in this process. */
    public static @Nullable Caller current() {
        return CURRENT.isBound() ? CURRENT.get() : null;
    }

    /** Runs something on a caller's behalf, also after the call is cancelled. */
    public static void run(Caller caller, Runnable action) {
        ScopedValue.where(CURRENT, caller).run(action);
    }
}
