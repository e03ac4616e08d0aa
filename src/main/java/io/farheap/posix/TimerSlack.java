package io.farheap.posix;

/**
 * Makes short sleeps of the calling thread short while it is open: by default the kernel adds up to 50 us to each. The
 * thread that opened it closes it. Virtual threads gain nothing, since the JDK's own threads time their sleeps.
 */
public final class TimerSlack implements AutoCloseable {

    private static final long SLACK_NANOS = 1_000;

    private final Thread thread = Thread.currentThread();
    private final long before;

    public TimerSlack() {
        before = thread.isVirtual() ? 0 : Posix.timerSlack();
        if (!thread.isVirtual()) {
            Posix.timerSlack(SLACK_NANOS);
        }
    }

    @Override
    public void close() {
        if (!thread.isVirtual() && thread == Thread.currentThread()) {
            Posix.timerSlack(before);
        }
    }
}
