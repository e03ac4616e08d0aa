package io.farheap.thread;

/** Waits for threads that have been told to end. Any thread. */
public final class ThreadJoiner {

    private ThreadJoiner() {}

    /**
     * Returns when a thread has ended, also where the caller is interrupted meanwhile; it is interrupted afterwards
     * then.
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
