package io.farheap.kv;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.kv.contract.VersionedValue;
import io.farheap.kv.space.RequestColumns;
import io.farheap.thread.Submissions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Requests to a map as futures. Any thread may call. One daemon thread, which this object owns, makes the requests in
 * the order of the calls and completes the futures, so a dependent action that is not {@code ...Async} runs on that
 * thread and must not wait. Arrays must not change until their future is complete. This allocates, copies and hands
 * requests over between threads: use a {@link MapSession} if nanoseconds count.
 *
 * <p>Futures fail with {@link MapException} if a server is lost, there is no room or a value is not a number, with
 * {@link IllegalArgumentException} if an argument is wrong, and with {@link IllegalStateException} after this object or
 * its map has been closed.
 */
public final class FutureMapSession implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FutureMapSession.class.getName());
    private static final long NEVER = 0;
    private static final int SPINS = 1000;
    private static final long SLEEP_NANOS = 1_000_000;
    private static final byte[] NO_VALUE = {};
    private static final ValueLayout.OfLong NUMBER = ValueLayout.JAVA_LONG_UNALIGNED;

    /** How a request ended. */
    @SuppressWarnings("ArrayRecordComponent")
    private record Reply(int status, byte @Nullable [] value, long version) {

        boolean done() {
            return status == KvStatus.DONE;
        }

        @Nullable
        VersionedValue versioned() {
            byte[] found = value;
            return found == null ? null : new VersionedValue(found, version);
        }

        OptionalLong number() {
            byte[] found = value;
            return found == null
                    ? OptionalLong.empty()
                    : OptionalLong.of(MemorySegment.ofArray(found).get(NUMBER, 0));
        }
    }

    @SuppressWarnings("ArrayRecordComponent")
    private record Request(
            int kind, byte[] key, byte[] value, long argument, long lifeMillis, CompletableFuture<Reply> future) {}

    private final MapSession session;
    private final Consumer<FutureMapSession> onClose;
    private final Submissions<Request> submitted = new Submissions<>(FutureMapSession::refuse);
    /** Requests that were made and have not ended, in their order; the daemon thread's. */
    private final Deque<Request> issued = new ArrayDeque<>();

    private final KvHandler handler = this::completed;
    private final Thread thread;

    /**
     * @param session belongs to this object from now on
     * @param onClose is called when this object has been closed
     */
    FutureMapSession(MapSession session, Consumer<FutureMapSession> onClose) {
        this.session = session;
        this.onClose = onClose;
        this.thread = Thread.ofPlatform().daemon().name("map-futures").start(this::run);
    }

    /** The value of a key, or null if the map does not have it. */
    public CompletableFuture<byte @Nullable []> get(byte[] key) {
        return submit(RequestColumns.GET, key, NO_VALUE, 0, NEVER).thenApply(Reply::value);
    }

    /** As {@link #get}, with the object's version. */
    public CompletableFuture<@Nullable VersionedValue> getVersioned(byte[] key) {
        return submit(RequestColumns.GET, key, NO_VALUE, 0, NEVER).thenApply(Reply::versioned);
    }

    /**
     * Stores an object.
     *
     * @param lifeMillis the time to live; 0: until it is evicted
     */
    public CompletableFuture<@Nullable Void> set(byte[] key, byte[] value, long lifeMillis) {
        return submit(RequestColumns.SET, key, value, 0, lifeMillis).thenApply(reply -> null);
    }

    /** Stores an object if its key is absent; completes with whether it was stored. */
    public CompletableFuture<Boolean> add(byte[] key, byte[] value, long lifeMillis) {
        return submit(RequestColumns.ADD, key, value, 0, lifeMillis).thenApply(Reply::done);
    }

    /** Stores an object if its key is present; completes with whether it was stored. */
    public CompletableFuture<Boolean> replace(byte[] key, byte[] value, long lifeMillis) {
        return submit(RequestColumns.REPLACE, key, value, 0, lifeMillis).thenApply(Reply::done);
    }

    /** Replaces an object if it still has this version; completes with whether it was stored. */
    public CompletableFuture<Boolean> compareAndSet(byte[] key, byte[] value, long version, long lifeMillis) {
        return submit(RequestColumns.COMPARE_AND_SET, key, value, version, lifeMillis)
                .thenApply(Reply::done);
    }

    /** Adds to a number; completes with the sum, or empty if the map does not have the key. */
    public CompletableFuture<OptionalLong> increment(byte[] key, long delta) {
        return submit(RequestColumns.INCREMENT, key, NO_VALUE, delta, NEVER).thenApply(Reply::number);
    }

    /** Gives an object another time to live; completes with whether the map has the key. */
    public CompletableFuture<Boolean> touch(byte[] key, long lifeMillis) {
        return submit(RequestColumns.TOUCH, key, NO_VALUE, 0, lifeMillis).thenApply(Reply::done);
    }

    /** Deletes a key; completes with whether the map had it. */
    public CompletableFuture<Boolean> delete(byte[] key) {
        return submit(RequestColumns.DELETE, key, NO_VALUE, 0, NEVER).thenApply(Reply::done);
    }

    /**
     * Finishes the requests that were submitted, and closes the session. Idempotent.
     *
     * @throws IllegalStateException if a dependent action on this object's thread calls it, which would wait for itself
     */
    @Override
    public void close() {
        checkNotInAction();
        submitted.close(thread);
        onClose.accept(this);
    }

    /** Whether the session has all connections; another thread may see an older state. */
    boolean isConnected() {
        return session.isConnected();
    }

    /** Throws if the caller is a dependent action on this object's thread, which must not wait for other requests. */
    void checkNotInAction() {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException(
                    "an action of a future waits on the thread that completes futures; make it an ...Async one");
        }
    }

    private CompletableFuture<Reply> submit(int kind, byte[] key, byte[] value, long argument, long lifeMillis) {
        Request request = new Request(kind, key, value, argument, lifeMillis, new CompletableFuture<>());
        submitted.submit(request, thread);
        return request.future;
    }

    private void run() {
        try {
            int idle = 0;
            while (!submitted.closing() || !submitted.isEmpty() || !issued.isEmpty()) {
                idle = issueAll() + session.poll(handler) > 0 ? 0 : idle + 1;
                // Without a request too, polling makes failed connections again.
                if (idle > 0 && issued.isEmpty() && session.isConnected()) {
                    park();
                } else if (idle > SPINS) {
                    session.await(SLEEP_NANOS);
                } else if (idle > 0) {
                    Thread.onSpinWait();
                }
            }
        } catch (IllegalStateException e) {
            // The map was closed meanwhile: the pending requests fail with that below.
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "a map's thread of futures cannot continue: its requests fail", e);
        } finally {
            submitted.refuseNew();
            try {
                session.close();
            } finally {
                issued.forEach(FutureMapSession::refuse);
                issued.clear();
                submitted.end();
            }
        }
    }

    private void park() {
        // An action of a future may have interrupted this thread, and parking would then return at once.
        Thread.interrupted();
        if (submitted.isEmpty() && !submitted.closing()) {
            LockSupport.park(this);
        }
    }

    private int issueAll() {
        int made = 0;
        for (Request request = submitted.peek(); request != null; request = submitted.peek()) {
            try {
                if (!issue(request)) {
                    return made;
                }
                issued.add(request);
            } catch (IllegalArgumentException e) {
                request.future.completeExceptionally(e);
            }
            submitted.poll();
            made++;
        }
        return made;
    }

    private boolean issue(Request request) {
        MemorySegment key = MemorySegment.ofArray(request.key);
        return switch (request.kind) {
            case RequestColumns.GET -> session.get(key, 0);
            case RequestColumns.DELETE -> session.delete(key, 0);
            case RequestColumns.TOUCH -> session.touch(key, request.lifeMillis, 0);
            case RequestColumns.INCREMENT -> session.increment(key, request.argument, 0);
            default ->
                session.store(
                        request.kind,
                        key,
                        MemorySegment.ofArray(request.value),
                        request.lifeMillis,
                        request.argument,
                        0);
        };
    }

    private void completed(long tag, int status, MemorySegment memory, long at, int bytes) {
        Request request = issued.element();
        MapException failure = MapException.isOf(status) ? MapException.of(status, session.trouble()) : null;
        issued.remove();
        if (failure != null) {
            request.future.completeExceptionally(failure);
            return;
        }
        byte[] value = null;
        if (status == KvStatus.DONE) {
            value = new byte[bytes];
            MemorySegment.copy(memory, at, MemorySegment.ofArray(value), 0, bytes);
        }
        request.future.complete(new Reply(status, value, session.version()));
    }

    private static void refuse(Request request) {
        request.future.completeExceptionally(new IllegalStateException("the session is closed"));
    }
}
