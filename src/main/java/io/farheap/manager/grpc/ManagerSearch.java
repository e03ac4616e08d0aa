package io.farheap.manager.grpc;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Finds the first of several managers that answers: asks each if the one before has refused, or has not answered for
 * {@value #NEXT_MILLIS} ms, so that one that hangs delays it for as long. While one hangs, those that refused because
 * they do not lead are asked again as often. Used once, by one thread.
 *
 * @param <T> a connected client
 */
final class ManagerSearch<T> {

    private static final long NEXT_MILLIS = 250;

    /**
     * The end of an attempt: one of the last two is null.
     *
     * @param first whether it was the first at its address
     */
    private record Attempt<T>(
            String address,
            boolean first,
            @Nullable T client,
            @Nullable ControlException failure) {}

    private final Function<String, T> connect;
    private final Consumer<T> close;
    private final BlockingQueue<Attempt<T>> ended = new LinkedBlockingQueue<>();
    /** Whether a client that connects now is of no use. Guarded by this. */
    private boolean over;

    /**
     * @param connect connects to a manager
     * @param close closes a client that is of no use
     */
    ManagerSearch(Function<String, T> connect, Consumer<T> close) {
        this.connect = connect;
        this.close = close;
    }

    /**
     * Returns the first that is connected.
     *
     * @throws ControlException of the last that refused, if all do; CANCELLED if the thread is interrupted
     */
    T first(List<String> addresses) {
        Iterator<String> next = addresses.iterator();
        List<String> standing = new ArrayList<>();
        ControlException none = null;
        int open = 0;
        try {
            while (open > 0 || next.hasNext()) {
                if (next.hasNext()) {
                    begin(next.next(), true);
                    open++;
                }
                Attempt<T> attempt = ended.poll(NEXT_MILLIS, TimeUnit.MILLISECONDS);
                if (attempt == null) {
                    // The leader may be the one that hangs: then another begins to lead.
                    standing.forEach(address -> begin(address, false));
                    standing.clear();
                    continue;
                }
                open -= attempt.first() ? 1 : 0;
                if (attempt.client() != null) {
                    return attempt.client();
                }
                ControlException failure = attempt.failure();
                if (failure != null && failure.code() == Code.UNAVAILABLE) {
                    standing.add(attempt.address());
                }
                if (failure != null && attempt.first()) {
                    if (none != null) {
                        failure.addSuppressed(none);
                    }
                    none = failure;
                }
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

    private void begin(String address, boolean first) {
        Thread.ofVirtual().name("farheap-manager-search").start(() -> attempt(address, first));
    }

    private void attempt(String address, boolean first) {
        Attempt<T> attempt;
        try {
            attempt = new Attempt<>(address, first, connect.apply(address), null);
        } catch (ControlException e) {
            attempt = new Attempt<>(address, first, null, e);
        } catch (Throwable e) {
            attempt = new Attempt<>(
                    address,
                    first,
                    null,
                    new ControlException(Code.INTERNAL, "cannot ask cache manager " + address + ": " + e, e));
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
        ended.forEach(this::close);
    }

    private void close(Attempt<T> attempt) {
        if (attempt.client() != null) {
            close.accept(attempt.client());
        }
    }
}
