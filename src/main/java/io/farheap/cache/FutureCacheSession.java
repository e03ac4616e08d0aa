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
 * cache either. It allocates, copies and hands requests over between threads: use a {@link CacheSession} if nanoseconds
 * count.
 */
public final class FutureCacheSession implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FutureCacheSession.class.getName());

    /** Between polls while operations are in flight that no request waits for. */
    private static final long UNSETTLED_NANOS = 1_000_000;
    /**
     * The most of a close's time that counts between two polls: time in which this thread did not run does not count.
     * It is also the longest sleep while requests are pending, so that the thread sees a close even if it waits for an
     * answer that never comes.
     */
    private static final long MOST_STEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** How long a close waits for the next request to end. */
    private volatile long closeNanos = TimeUnit.SECONDS.toNanos(10);

    private final Consumer<FutureCacheSession> onClose;
    private final Runnable refuseInCallback;
    private final CacheSession session;
    private final Submissions<FutureRequest> submitted = new Submissions<>(FutureCacheSession::refuse);
    /** Requests that are issued and not complete; used by the thread alone. */
    private final Set<FutureRequest> issued = Collections.newSetFromMap(new IdentityHashMap<>());
    /**
     * Requests that the session refused because a migration holds many writes, and later ones that overlap them, in the
     * order of submission; used by the thread alone.
     */
    private final Deque<FutureRequest> deferred = new ArrayDeque<>();

    /**
     * For how long no request has ended while the session is closing, and the time of the last look; used by the thread
     * alone.
     */
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
     * @return completes when the data is in the segment, or exceptionally with {@link CacheException},
     *     {@link IndexOutOfBoundsException}, {@link IllegalArgumentException} or {@link IllegalStateException}
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
     * @param result receives the result of up to {@code result.byteSize()} bytes, at most 4096
     * @return completes when the call has ended, with any status; or exceptionally, as {@link #read}
     */
    public CompletableFuture<CallResult> call(
            Procedure procedure, long address, long from, long span, MemorySegment arguments, MemorySegment result) {
        return submit(new FutureRequest.CallRequest(procedure, address, from, span, arguments, result));
    }

    /**
     * Finishes the submitted requests, and closes the session. Later requests fail with {@link IllegalStateException}.
     * So do earlier ones once none of them has ended for ten seconds, for example strict writes that wait for memory
     * that no server has. In a coded cache they fail up to ten seconds later, since its session itself waits for
     * operations in flight. Idempotent.
     */
    @Override
    public void close() {
        refuseInCallback.run();
        submitted.close(thread);
        onClose.accept(this);
    }

    /**
     * Begins {@link #close}, which has to follow, without waiting, so that the waits of several sessions run at the
     * same time.
     */
    void beginClose() {
        submitted.beginClose(thread);
    }

    /** Sets how long a close waits: for tests. */
    void closeWithin(long nanos) {
        closeNanos = nanos;
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
            // The cache was closed while this ran: the pending requests fail with this exception's reason.
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "thread " + Thread.currentThread().getName() + " cannot continue: its requests fail",
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

    /** Whether the session is closing and no request has ended for so long that it should not wait any more. */
    private boolean hasNoProgress(boolean progress) {
        long now = System.nanoTime();
        idle = progress || !submitted.closing() ? 0 : idle + Math.min(now - looked, MOST_STEP_NANOS);
        looked = now;
        return idle > closeNanos;
    }

    /** Closes the session, which finishes the requests that it can. */
    private void closeSession() {
        try {
            session.close();
        } catch (IllegalStateException e) {
            // The cache was closed while this ran.
        } catch (Throwable e) {
            LOG.log(
                    System.Logger.Level.ERROR,
                    "a session of futures cannot be closed in order: its unfinished requests fail",
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

    /** @param later how many requests at the head of {@code deferred} were submitted after this one */
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
        // An interrupt by a dependent action would make parking return at once.
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
     * @return false if a migration holds so many writes, or a call, that the session has no place for this request; or
     *     if the session is closing and no request has ended for long
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
            // The JVM throws an InternalError if a mapped file has become shorter.
            issued.remove(request);
            request.fail(e);
        }
        return true;
    }

    /** Works on a copy: an action that runs when a request ends may change the collection. */
    private static void refuseAll(Collection<FutureRequest> requests) {
        List<FutureRequest> all = new ArrayList<>(requests);
        requests.removeAll(all);
        all.forEach(FutureCacheSession::refuse);
    }

    private static void refuse(FutureRequest request) {
        request.fail(new IllegalStateException("the session is closed"));
    }
}
