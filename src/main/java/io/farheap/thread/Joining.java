package io.farheap.thread;

/** Waits for threads that have been told to end. Any thread. */
public final class Joining {

    private Joining() {}

    /**
     * Returns when a thread has ended, also where the caller is interrupted meanwhile; it is interrupted afterwards
     * then.
     */
    public static void join(Thread thread) {
        join(thread, () -> {}, 0);
    }

    /**
     * As {@link #join(Thread)}, and reminds the thread until it has ended.
     *
     * @param everyMillis how often; 0 for once
     */
    public static void join(Thread thread, Runnable reminder, long everyMillis) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            reminder.run();
            try {
                thread.join(everyMillis);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
