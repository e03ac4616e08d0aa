package io.farheap.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import sun.misc.Signal;

/**
 * Says when a service is to end: at SIGTERM, at SIGINT or, if that is asked for, when standard input ends. The first
 * signal ends it in order, a second one at once. Any thread.
 */
public final class Termination {

    /** The exit value of a process that a signal ended, as shells have it, is this plus the signal's number. */
    private static final int SIGNAL_EXIT = 128;

    private final CountDownLatch stop = new CountDownLatch(1);
    private final AtomicBoolean signalled = new AtomicBoolean();
    private volatile boolean parentGone;

    private Termination() {}

    /** @param untilStdinCloses whether to watch standard input, so that a child does not outlive its parent */
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
     * Ends the service without a signal: the first signal that comes afterwards does not end it at once. Idempotent.
     */
    public void stop() {
        stop.countDown();
    }

    /** Returns when the service is to end. */
    public void await() throws InterruptedException {
        stop.await();
    }

    /** Waits for so many ms at most, and returns whether the service is to end. */
    public boolean await(long millis) throws InterruptedException {
        return stop.await(millis, TimeUnit.MILLISECONDS);
    }

    /** Whether standard input has ended, if that is watched: then no parent waits for an orderly end. */
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
            // Counts as the end of the input.
        }
        parentGone = true;
        stop.countDown();
    }
}
