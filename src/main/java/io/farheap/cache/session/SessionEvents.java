package io.farheap.cache.session;

import io.farheap.remote.device.CompletionEvents;
import io.farheap.verbs.CompletionChannel;
import org.jspecify.annotations.Nullable;

/** The events of a session's completion channel, from its first sleep on. Inside its gate, or with it claimed. */
final class SessionEvents {

    /** For which a thread sleeps that no event will wake. */
    private static final long UNWOKEN_NANOS = 1_000_000;

    /** Null where paths sleep by themselves. */
    private final @Nullable CompletionEvents all;

    private long token;

    SessionEvents(@Nullable CompletionEvents all) {
        this.all = all;
    }

    /** @param wake what an event does */
    void watch(@Nullable CompletionChannel channel, Runnable wake) {
        if (token == 0 && channel != null && all != null) {
            token = all.add(channel, wake);
        }
    }

    /**
     * The channel is not watched any more, once what this returns has been {@linkplain #forget forgotten}, outside of
     * the gate.
     */
    long leave() {
        long left = token;
        token = 0;
        return left;
    }

    void forget(long left) {
        if (left != 0 && all != null) {
            all.remove(left);
        }
    }

    /** @return how long to sleep, where an event would do for as long as {@code patience}; 0 for ever */
    long patience(long patience) {
        return all != null && all.dead() ? UNWOKEN_NANOS : patience;
    }
}
