package io.farheap.thread;

/** Waits for threads that have been asked to end. Any thread may call. */
public final class ThreadJoiner {

    private ThreadJoiner() {}

    /**
     * Returns when a thread has ended. If the caller is interrupted meanwhile, it keeps waiting, and its interrupt
     * status is set again at the end.
     */
    public static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
