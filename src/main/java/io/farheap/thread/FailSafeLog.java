package io.farheap.thread;

import java.util.function.Supplier;

/**
 * Says something in a thread that must go on, or end in order, also where there is no memory or stack left to say it,
 * or whatever listens to the log fails: it never throws.
 */
public final class FailSafeLog {

    private FailSafeLog() {}

    /** What went wrong. */
    public static void log(System.Logger log, String what, Throwable cause) {
        try {
            log.log(System.Logger.Level.ERROR, what, cause);
        } catch (Throwable e) {
            // There is nothing left to say it with.
        }
    }

    /** As {@link #log(System.Logger, String, Throwable)}, for what takes memory to put into words. */
    public static void log(System.Logger log, Supplier<String> what, Throwable cause) {
        try {
            log.log(System.Logger.Level.ERROR, what.get(), cause);
        } catch (Throwable e) {
            // There is nothing left to say it with.
        }
    }

    /** What is no error. */
    public static void log(System.Logger log, System.Logger.Level level, Supplier<String> what) {
        try {
            log.log(level, what.get());
        } catch (Throwable e) {
            // There is nothing left to say it with.
        }
    }
}
