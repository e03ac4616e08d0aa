package io.farheap.posix;

/**
 * While it is open, short sleeps of the thread that opened it are short: by default the kernel adds up to 50 us to
 * each. That thread closes it. Virtual threads, whose sleeps are others' timers, gain nothing.
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
