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
     * Polls until nothing is pending, whatever callbacks and updates throw, and ends the session; what the first of
     * them has thrown comes out then. It stays open where the poll or the end itself is refused, as to a thread that
     * the session does not belong to. Not within a callback: where nothing is pending any more, it would be ended
     * inside the poll.
     */
    public static void end(SessionGate gate, IntSupplier pending, Runnable drain, AutoCloseable end) {
        List<AutoCloseable> ends = new ArrayList<>();
        for (int before = pending.getAsInt(); before > 0; before = pending.getAsInt()) {
            try {
                drain.run();
            } catch (Throwable e) {
                if (gate.closed() && e instanceof IllegalStateException) {
                    // The store is closed: what is pending is told so at the end.
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
     * Polls until no update is pending or the time is up, whatever callbacks and updates throw, and throws that then.
     * By the thread that has claimed the reads, of a session that no other thread uses any more.
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
