package io.farheap.cache;

import io.farheap.cache.contract.CacheException;
import io.farheap.cache.contract.CallResult;
import io.farheap.thread.Submissions;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Reads, writes and calls as futures. Any thread may call; one daemon thread, which this object owns, issues the
 * requests in the order of the calls and completes the futures, so a dependent action that is not {@code ...Async} runs
 * on it and must not block. It is the session's callback thread, so it must not create, close or move anything of the
 * cache either. It allocates, copies and hands over between threads: use a {@link CacheSession} where nanoseconds
 * count.
 */
public final class FutureCacheSession implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FutureCacheSession.class.getName());

    /** Between polls while something is on its way that nobody waits for. */
    private static final long UNSETTLED_NANOS = 1_000_000;
    /** So long a close waits for the next request to end. */
    private static final long CLOSE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /**
     * Of that at most so much a poll: time in which this did not run does not count. It sleeps no longer while
     * something is pending, so that it sees a close also while it waits for an answer that never comes.
     */
    private static final long MOST_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final Consumer<FutureCacheSession> onClose;
    private final Runnable refuseInCallback;
    private final CacheSession session;
    private final Submissions<FutureRequest> submitted = new Submissions<>(FutureCacheSession::refuse);
    /** Issued and not complete; the thread's. */
    private final Set<FutureRequest> issued = Collections.newSetFromMap(new IdentityHashMap<>());
    /**
     * Refused because a migration holds many writes, and later ones that overlap them; the thread's, in the order of
     * submission.
     */
    private final Deque<FutureRequest> deferred = new ArrayDeque<>();

    /** For how long nothing has ended while it is to close, and when that was looked at last; the thread's. */
    private long idle;

    private long looked = System.nanoTime();

    private final Thread thread;

    FutureCacheSession(
            CacheSession session, String name, Runnable refuseInCallback, Consumer<FutureCacheSession> onClose) {
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
     * Calls a procedure, with the whole cache as its footprint; see {@link #call(Procedure, long, long, long,
     * MemorySegment, MemorySegment)}.
     */
    public CompletableFuture<CallResult> call(
            Procedure procedure, long address, MemorySegment arguments, MemorySegment result) {
        return submit(new FutureRequest.CallRequest(
                procedure, address, 0, FutureRequest.CallRequest.WHOLE, arguments, result));
    }

    /**
     * Calls a procedure, as {@link CacheSession#call(Procedure, long, long, long, Buffer, long, int, long, int,
     * CallCompletion, long)} does.
     *
     * @param arguments at most 4096 bytes, which must not change until the future is complete; accessible to all
     *     threads
     * @param result takes the result, which has room there for {@code result.byteSize()} bytes, at most 4096
     * @return completes when the call has ended, however it did, with that; or exceptionally, as {@link #read}
     */
    public CompletableFuture<CallResult> call(
            Procedure procedure, long address, long from, long span, MemorySegment arguments, MemorySegment result) {
        return submit(new FutureRequest.CallRequest(procedure, address, from, span, arguments, result));
    }

    /**
     * Finishes what was submitted, and closes the session. Later requests fail with {@link IllegalStateException}, and
     * so do earlier ones of which none has ended for ten seconds, such as strict writes that wait for memory that there
     * is not. In a coded cache they fail up to ten seconds later: its session waits then for what is on its way, by
     * itself. Idempotent.
     */
    @Override
    public void close() {
        refuseInCallback.run();
        submitted.close(thread);
        onClose.accept(this);
    }

    /** As {@link #close}, which is to follow, but for the wait: several wait at one time. */
    void beginClose() {
        submitted.beginClose(thread);
    }

    private CompletableFuture<Void> submit(boolean write, long address, MemorySegment segment) {
        FutureRequest.Transfer request = new FutureRequest.Transfer(write, address, segment);
        submit(request);
        return request.future();
    }

    private CompletableFuture<CallResult> submit(FutureRequest.CallRequest request) {
        submit((FutureRequest) request);
        return request.future();
    }

    private void submit(FutureRequest request) {
        submitted.submit(request, thread);
    }

    private void run() {
        try {
            while (!(submitted.closing() && submitted.isEmpty() && deferred.isEmpty() && session.pending() == 0)) {
                int progress = issueDeferred();
                for (FutureRequest request = submitted.poll(); request != null; request = submitted.poll()) {
                    if (isBehindDeferred(request) || !issue(request)) {
                        deferred.add(request);
                    } else {
                        progress++;
                    }
                }
                progress += session.poll();
                if (hasNoProgress(progress > 0)) {
                    break;
                }
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
            submitted.refuseNew();
            try {
                closeSession();
            } finally {
                refuseAll(issued);
                refuseAll(deferred);
                submitted.end();
            }
        }
    }

    /** Whether it is to close and has had none for so long that it need not wait any more. */
    private boolean hasNoProgress(boolean progress) {
        long now = System.nanoTime();
        idle = progress || !submitted.closing() ? 0 : idle + Math.min(now - looked, MOST_STEP_NANOS);
        looked = now;
        return idle > CLOSE_NANOS;
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
            FutureRequest request = deferred.poll();
            if (isBehindDeferred(request, before - 1 - i) || !issue(request)) {
                deferred.add(request);
            }
        }
        return before - deferred.size();
    }

    private boolean isBehindDeferred(FutureRequest request) {
        return isBehindDeferred(request, 0);
    }

    /** @param later how many at the head were submitted after the request */
    private boolean isBehindDeferred(FutureRequest request, int later) {
        int skip = later;
        for (FutureRequest earlier : deferred) {
            if (skip-- <= 0 && earlier.overlaps(request)) {
                return true;
            }
        }
        return false;
    }

    private void await() {
        // An interrupt by a future's action would make parking return at once.
        Thread.interrupted();
        if (session.pending() > 0 || session.core().pending.owes() || !deferred.isEmpty()) {
            session.awaitProgress(MOST_STEP_NANOS);
        } else if (submitted.isEmpty()
                && !submitted.closing()
                && session.core().pending.unsettled()) {
            LockSupport.parkNanos(this, UNSETTLED_NANOS);
        } else if (submitted.isEmpty() && !submitted.closing()) {
            LockSupport.park(this);
        }
    }

    /**
     * @return false where a migration holds so many writes, or a call, that this one has no place; or where the session
     *     is to close and none has ended for long
     */
    private boolean issue(FutureRequest request) {
        issued.add(request);
        try {
            int before = issued.size();
            while (!request.issue(session, issued::remove)) {
                if (session.held() > 0 || hasNoProgress(issued.size() < before)) {
                    issued.remove(request);
                    return false;
                }
                before = issued.size();
                session.awaitProgress(MOST_STEP_NANOS);
            }
        } catch (RuntimeException | InternalError e) {
            // The latter is how the JVM says that a mapped file has become shorter.
            issued.remove(request);
            request.fail(e);
        }
        return true;
    }

    /** What each of them does when it ends may change them. */
    private static void refuseAll(Collection<FutureRequest> requests) {
        List<FutureRequest> all = new ArrayList<>(requests);
        requests.removeAll(all);
        all.forEach(FutureCacheSession::refuse);
    }

    private static void refuse(FutureRequest request) {
        request.fail(new IllegalStateException("the session is closed"));
    }
}
