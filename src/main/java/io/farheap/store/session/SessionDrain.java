package io.farheap.store.session;

import io.farheap.lifetime.Closeables;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/** The end of a session. */
public final class SessionDrain {

    private SessionDrain() {}

    /**
     * Polls until nothing is pending, whatever callbacks and updates throw, then ends the session and throws the first
     * of their exceptions. The session stays open if the poll or the end itself is refused, for example since another
     * thread owns the session. It must not be called within a callback, which could end the session inside its own
     * poll.
     */
    public static void end(SessionGate gate, IntSupplier pending, Runnable drain, AutoCloseable end) {
        List<AutoCloseable> ends = new ArrayList<>();
        for (int before = pending.getAsInt(); before > 0; before = pending.getAsInt()) {
            try {
                drain.run();
            } catch (Throwable e) {
                if (gate.closed() && e instanceof IllegalStateException) {
                    // The store is closed: pending operations are ended with CLOSED below.
                    break;
                }
                if (pending.getAsInt() >= before) {
                    throw e;
                }
                ends.add(() -> {
                    throw e;
                });
            }
        }
        ends.add(end);
        Closeables.all(ends);
    }

    /**
     * Polls until no update is pending or the time is up, whatever callbacks and updates throw, and then throws their
     * exceptions. Called by the thread that has claimed the end of the session, which no other thread uses any more.
     */
    static void updates(DeviceReads device, Duration patience) {
        List<AutoCloseable> ends = new ArrayList<>();
        long began = System.nanoTime();
        while (device.pending.updates() > 0
                && Duration.ofNanos(System.nanoTime() - began).compareTo(patience) < 0) {
            try {
                if (!device.poll()) {
                    device.await();
                }
            } catch (Throwable e) {
                ends.add(() -> {
                    throw e;
                });
            }
        }
        Closeables.all(ends);
    }
}
