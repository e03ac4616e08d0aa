package io.farheap.manager.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds the first of several managers that answers: asks each if the one before has refused, or has not answered for
 * {@value #NEXT_MILLIS} ms, so that one that hangs delays it for as long. Used once, by one thread.
 */
final class ManagerSearch {

    private static final long NEXT_MILLIS = 250;

    /** The end of an attempt: one of the two is null. */
    private record Attempt(@Nullable ManagerClient client, @Nullable ControlException failure) {}

    private final BlockingQueue<Attempt> ended = new LinkedBlockingQueue<>();
    /** Whether a client that connects now is of no use. Guarded by this. */
    private boolean over;

    /**
     * Returns the first that is connected.
     *
     * @throws ControlException of the last that refused, if all do; CANCELLED if the thread is interrupted
     */
    ManagerClient first(List<String> addresses) {
        Iterator<String> next = addresses.iterator();
        ControlException none = null;
        int open = 0;
        try {
            while (open > 0 || next.hasNext()) {
                if (next.hasNext()) {
                    String address = next.next();
                    Thread.ofVirtual().name("farheap-manager-search").start(() -> attempt(address));
                    open++;
                }
                Attempt attempt = next.hasNext() ? ended.poll(NEXT_MILLIS, TimeUnit.MILLISECONDS) : ended.take();
                if (attempt == null) {
                    continue;
                }
                open--;
                if (attempt.client() != null) {
                    return attempt.client();
                }
                ControlException failure = attempt.failure();
                if (failure != null && none != null) {
                    failure.addSuppressed(none);
                }
                none = failure;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ControlException(Code.CANCELLED, "interrupted while a cache manager was looked for", e);
        } finally {
            end();
        }
        throw none == null
                ? new ControlException(Code.INVALID_ARGUMENT, "no cache manager is named; name one as HOST:PORT")
                : none;
    }

    private void attempt(String address) {
        Attempt attempt;
        try {
            attempt = new Attempt(ManagerClient.connect(address), null);
        } catch (ControlException e) {
            attempt = new Attempt(null, e);
        } catch (Throwable e) {
            attempt = new Attempt(
                    null, new ControlException(Code.INTERNAL, "cannot ask cache manager " + address + ": " + e, e));
        }
        synchronized (this) {
            if (!over) {
                ended.add(attempt);
                return;
            }
        }
        close(attempt);
    }

    /** Closes clients that have connected too late. */
    private void end() {
        synchronized (this) {
            over = true;
        }
        ended.forEach(ManagerSearch::close);
    }

    private static void close(Attempt attempt) {
        if (attempt.client() != null) {
            attempt.client().close();
        }
    }
}
