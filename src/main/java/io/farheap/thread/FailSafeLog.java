package io.farheap.thread;

import java.util.function.Supplier;

/**
 * Logs in a thread that must continue, or end in order, even if there is no memory or stack left, or a log handler
 * fails: it never throws.
 */
public final class FailSafeLog {

    private FailSafeLog() {}

    /** Logs an error. */
    public static void log(System.Logger log, String what, Throwable cause) {
        try {
            log.log(System.Logger.Level.ERROR, what, cause);
        } catch (Throwable e) {
            // There is nothing left to say it with.
        }
    }

    /** As {@link #log(System.Logger, String, Throwable)}, for a message whose text must be allocated. */
    public static void log(System.Logger log, Supplier<String> what, Throwable cause) {
        try {
            log.log(System.Logger.Level.ERROR, what.get(), cause);
        } catch (Throwable e) {
            // There is nothing left to say it with.
        }
    }

    /** Logs a message that is no error. */
    public static void log(System.Logger log, System.Logger.Level level, Supplier<String> what) {
        try {
            log.log(level, what.get());
        } catch (Throwable e) {
            // There is nothing left to say it with.
        }
    }
}
