package io.farheap.server;

/**
 * Says what went wrong in a thread that must go on, or end in order, also where there is no memory or stack left to say
 * it.
 */
final class Loudly {

    private Loudly() {}

    static void log(System.Logger log, String what, Throwable cause) {
        try {
            log.log(System.Logger.Level.ERROR, what, cause);
        } catch (Throwable e) {
            // There is nothing left to say it with.
        }
    }
}
