package io.farheap.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import sun.misc.Signal;

/**
 * When a service is to end: at SIGTERM, at SIGINT or, where it is asked to, when standard input ends. The first signal
 * ends it in order, a second one at once. Any thread.
 */
public final class Termination {

    /** As a shell says that a signal ended a process. */
    private static final int SIGNAL_EXIT = 128;

    private final CountDownLatch stop = new CountDownLatch(1);
    private final AtomicBoolean signalled = new AtomicBoolean();
    private volatile boolean parentGone;

    private Termination() {}

    /** @param untilStdinCloses watches standard input, so that a child does not outlive its parent */
    public static Termination watch(boolean untilStdinCloses) {
        Termination termination = new Termination();
        Signal.handle(new Signal("TERM"), termination::stop);
        Signal.handle(new Signal("INT"), termination::stop);
        if (untilStdinCloses) {
            Thread watcher = new Thread(() -> termination.awaitEnd(System.in), "farheap-stdin");
            watcher.setDaemon(true);
            watcher.start();
        }
        return termination;
    }

    /**
     * It is time to end, though nobody has sent a signal: the first that comes then ends nothing at once. Idempotent.
     */
    public void stop() {
        stop.countDown();
    }

    /** Returns when it is time to end. */
    public void await() throws InterruptedException {
        stop.await();
    }

    /** Whether it is time to end, after so many ms at most. */
    public boolean await(long millis) throws InterruptedException {
        return stop.await(millis, TimeUnit.MILLISECONDS);
    }

    /** Whether standard input has ended, where that is watched: there is nobody left to be kind to. */
    public boolean parentGone() {
        return parentGone;
    }

    private void stop(Signal signal) {
        if (signalled.getAndSet(true)) {
            Runtime.getRuntime().halt(SIGNAL_EXIT + signal.getNumber());
        }
        stop.countDown();
    }

    private void awaitEnd(InputStream in) {
        try {
            in.transferTo(OutputStream.nullOutputStream());
        } catch (IOException e) {
            // As good as its end.
        }
        parentGone = true;
        stop.countDown();
    }
}
