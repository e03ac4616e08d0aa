package io.farheap.cache;

import io.farheap.thread.Joining;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Reads and writes as futures. Any thread may call; one daemon thread, which this object owns, issues the requests in
 * the order of the calls and completes the futures, so a dependent action that is not {@code ...Async} runs on it and
 * must not block. It is the session's callback thread, so it must not create, close or move anything of the cache
 * either. It allocates, copies and hands over between threads: use a {@link Session} where nanoseconds count.
 */
public final class FutureSession implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FutureSession.class.getName());

    /** Between polls while something is on its way that nobody waits for. */
    private static final long UNSETTLED_NANOS = 1_000_000;

    private record Request(boolean write, long address, MemorySegment segment, CompletableFuture<Void> future) {
        boolean overlaps(Request other) {
            return address < other.address + other.segment.byteSize() && other.address < address + segment.byteSize();
        }
    }

    private final Consumer<FutureSession> onClose;
    private final Runnable refuseInCallback;
    private final Session session;
    private final Queue<Request> submitted = new ConcurrentLinkedQueue<>();
    /** Issued and not complete; the thread's. */
    private final Set<Request> issued = Collections.newSetFromMap(new IdentityHashMap<>());
    /**
     * Refused because a migration holds many writes, and later ones that overlap them; the thread's, in the order of
     * submission.
     */
    private final Deque<Request> deferred = new ArrayDeque<>();

    private final Thread thread;
    private volatile boolean closing;
    /**
     * Nobody takes what is submitted any more. The thread sets it and then looks at {@code submitted} for the last
     * time; who submits adds to that and then looks at this: one of the two sees the other's.
     */
    private volatile boolean ended;

    FutureSession(Session session, String name, Runnable refuseInCallback, Consumer<FutureSession> onClose) {
        this.refuseInCallback = refuseInCallback;
        this.onClose = onClose;
        this.session = session;
        this.thread = Thread.ofPlatform().daemon().name(name + "-futures").start(this::run);
    }

    /**
     * Reads {@code destination.byteSize()} bytes. The segment must be accessible to all threads: on the heap, global,
     * automatic, or from a shared arena.
     *
     * @return completes when the data is there, or with {@link CacheException}, {@link IndexOutOfBoundsException},
     *     {@link IllegalArgumentException} or {@link IllegalStateException}
     */
    public CompletableFuture<Void> read(long address, MemorySegment destination) {
        return submit(false, address, destination);
    }

    /** Writes all of a segment, which must not change until the future is complete. */
    public CompletableFuture<Void> write(long address, MemorySegment source) {
        return submit(true, address, source);
    }

    /**
     * Finishes what was submitted, and closes the session. Later requests fail with {@link IllegalStateException}.
     * Idempotent.
     */
    @Override
    public void close() {
        refuseInCallback.run();
        closing = true;
        LockSupport.unpark(thread);
        Joining.join(thread);
        failAll(submitted);
        onClose.accept(this);
    }

    private CompletableFuture<Void> submit(boolean write, long address, MemorySegment segment) {
        Request request = new Request(write, address, segment, new CompletableFuture<>());
        submitted.add(request);
        LockSupport.unpark(thread);
        if (ended) {
            failAll(submitted);
        }
        return request.future();
    }

    private void run() {
        try {
            while (!(closing && submitted.isEmpty() && deferred.isEmpty() && session.pending() == 0)) {
                int progress = issueDeferred();
                for (Request request = submitted.poll(); request != null; request = submitted.poll()) {
                    progress++;
                    if (isBehindDeferred(request) || !issue(request)) {
                        deferred.add(request);
                    }
                }
                progress += session.poll();
                if (progress == 0) {
                    await();
                }
            }
        } catch (IllegalStateException e) {
            // The cache was closed under it: what is pending fails with that.
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "thread " + Thread.currentThread().getName() + " cannot go on: its requests fail",
                    e);
        } finally {
            closing = true;
            try {
                closeSession();
            } finally {
                ended = true;
                failAll(issued);
                failAll(deferred);
                failAll(submitted);
            }
        }
    }

    /** It finishes what it can. */
    private void closeSession() {
        try {
            session.close();
        } catch (IllegalStateException e) {
            // The cache was closed under it.
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "a session of futures cannot be closed in order: what it had not finished fails",
                    e);
        }
    }

    private int issueDeferred() {
        int before = deferred.size();
        for (int i = 0; i < before; i++) {
            Request request = deferred.poll();
            if (isBehindDeferred(request, before - 1 - i) || !issue(request)) {
                deferred.add(request);
            }
        }
        return before - deferred.size();
    }

    private boolean isBehindDeferred(Request request) {
        return isBehindDeferred(request, 0);
    }

    /** @param later how many at the head were submitted after the request */
    private boolean isBehindDeferred(Request request, int later) {
        int skip = later;
        for (Request earlier : deferred) {
            if (skip-- <= 0 && earlier.overlaps(request)) {
                return true;
            }
        }
        return false;
    }

    private void await() {
        if (session.pending() > 0 || session.core().owes() || !deferred.isEmpty()) {
            session.awaitProgress();
        } else if (submitted.isEmpty() && !closing && session.core().unsettled()) {
            LockSupport.parkNanos(this, UNSETTLED_NANOS);
        } else if (submitted.isEmpty() && !closing) {
            LockSupport.park(this);
        }
    }

    /** @return false where a migration holds so many writes that this one has no place */
    private boolean issue(Request request) {
        try {
            Completion completion = (token, status) -> finish(request, status);
            while (!(request.write()
                    ? session.write(request.address(), request.segment(), completion, 0)
                    : session.read(request.address(), request.segment(), completion, 0))) {
                if (session.held() > 0) {
                    return false;
                }
                session.awaitProgress();
            }
            issued.add(request);
        } catch (RuntimeException e) {
            request.future().completeExceptionally(e);
        }
        return true;
    }

    private void finish(Request request, int status) {
        issued.remove(request);
        if (status == Status.OK) {
            request.future().complete(null);
        } else {
            request.future()
                    .completeExceptionally(new CacheException(
                            "cannot " + (request.write() ? "write " : "read ")
                                    + request.segment().byteSize() + " bytes at address " + request.address() + ": "
                                    + Status.describe(status),
                            status));
        }
    }

    private static void failAll(Collection<Request> requests) {
        List<Request> all = new ArrayList<>(requests);
        requests.removeAll(all);
        for (Request request : all) {
            request.future().completeExceptionally(new IllegalStateException("the session is closed"));
        }
    }
}
