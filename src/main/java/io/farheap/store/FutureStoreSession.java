package io.farheap.store;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.store.format.RecordLayout;
import io.farheap.thread.Submissions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Operations of a store that return futures. Any thread may call. One daemon thread, which this object owns, begins the
 * operations in the order of the calls and completes the futures, so a dependent action that is not {@code ...Async}
 * runs on that thread and must not block. Arrays must not change until their future is complete. For the order of
 * operations on one key see {@link StoreSession}; an application that needs an order waits for the future. Each
 * operation allocates, copies, and is handed over between threads: use a {@link StoreSession} if nanoseconds count.
 *
 * <p>A store whose keys and values have 8 bytes each takes arrays of 8 bytes, little-endian. A future fails with
 * {@link StoreException} if the device fails or has lost a record, with {@link IllegalArgumentException} if a key or
 * value does not fit, with the exception that an {@link Update} throws, with {@link OutOfMemoryError} if there is no
 * memory for the operation, for example in an index that grows, and with {@link IllegalStateException} once this object
 * or its store is closed.
 */
public final class FutureStoreSession implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(FutureStoreSession.class.getName());
    private static final int FIRST_ROOM = 1024;
    /** Bytes for each value of a read of many keys. */
    private static final int ROOM_OF_MANY = 256;

    private static final int MOST_OF_MANY = 1 << 20;

    private static final long NAP_NANOS = 50_000;

    private final StoreSession session;
    private final Consumer<FutureStoreSession> onClose;
    private final Submissions<Request> submitted = new Submissions<>(request -> request.failed(closed()));
    /** Operations that have begun and not ended. Used by this object's thread alone. */
    private final Set<Request> begun = new HashSet<>();

    private final Thread thread;

    /** One operation. If there was no room, it begins again later. */
    private abstract class Request implements StoreCompletion {

        /** The key, or all keys of a read of many. */
        final MemorySegment key;

        final int keyBytes;

        Request(byte[] key) {
            this.key = MemorySegment.ofArray(key);
            this.keyBytes = key.length;
        }

        /** @return the session's status */
        abstract int begin();

        abstract void done(int status, int bytes);

        abstract void failed(Throwable cause);

        @Override
        public void completed(long token, int status, int bytes) {
            if (hasThrown(status)) {
                // The operation ends in threw, once the poll has thrown. A poll within the session's close does not
                // call that.
                throwers.add(this);
                return;
            }
            begun.remove(this);
            if (status == StoreStatus.FULL) {
                submitted.again(this);
                return;
            }
            try {
                if (status == StoreStatus.DONE || status == StoreStatus.NOT_FOUND || status == StoreStatus.TOO_LONG) {
                    done(status, bytes);
                } else {
                    failed(failure(status));
                }
            } catch (Throwable e) {
                // For example, there is no memory for a copy of the value.
                failed(e);
            }
        }

        /** The exception that the poll threw when it called this operation's completion. */
        void threw(Throwable cause) {
            begun.remove(this);
            failed(cause);
        }
    }

    /**
     * Operations for which the poll will throw an exception, once for each such completion. Used by this object's
     * thread alone.
     */
    private final Deque<Request> throwers = new ArrayDeque<>();

    private final class Read extends Request {

        final CompletableFuture<byte @Nullable []> future = new CompletableFuture<>();
        private MemorySegment into = MemorySegment.ofArray(new byte[FIRST_ROOM]);

        Read(byte[] key) {
            super(key);
        }

        @Override
        int begin() {
            return session.read(key, 0, keyBytes, into, 0, (int) into.byteSize(), this, 0);
        }

        @Override
        void done(int status, int bytes) {
            switch (status) {
                case StoreStatus.DONE -> future.complete(into.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
                case StoreStatus.TOO_LONG -> {
                    into = MemorySegment.ofArray(
                            new byte[(int) Math.min(4 * into.byteSize(), RecordLayout.MAX_VALUE_BYTES)]);
                    submitted.again(this);
                }
                default -> future.complete(null);
            }
        }

        @Override
        void failed(Throwable cause) {
            future.completeExceptionally(cause);
        }
    }

    /** Reads by groups; values that have no room are read again, each by itself. */
    private final class ReadAll extends Request {

        final CompletableFuture<List<byte @Nullable []>> future = new CompletableFuture<>();
        private final int[] ends;
        private final byte[] @Nullable [] values;
        private final MemorySegment into;
        private final StoreCompletion each = this::oneCompleted;
        private int taken;
        private int left;

        /** @param keys one behind the other */
        ReadAll(byte[] keys, int[] ends) {
            super(keys);
            this.ends = ends;
            this.values = new byte[ends.length][];
            this.into = MemorySegment.ofArray(new byte[ends.length * ROOM_OF_MANY]);
            this.left = ends.length;
        }

        @Override
        int begin() {
            taken += session.readAll(key, ends, taken, ends.length - taken, into, 0, ROOM_OF_MANY, each, 0);
            if (taken < ends.length) {
                return StoreStatus.FULL;
            }
            return left == 0 ? StoreStatus.DONE : StoreStatus.PENDING;
        }

        private void oneCompleted(long token, int status, int bytes) {
            if (hasThrown(status)) {
                throwers.add(this);
                return;
            }
            int place = (int) token;
            boolean goesOn = false;
            try {
                switch (status) {
                    case StoreStatus.DONE ->
                        values[place] =
                                into.asSlice((long) place * ROOM_OF_MANY, bytes).toArray(ValueLayout.JAVA_BYTE);
                    case StoreStatus.NOT_FOUND -> {}
                    case StoreStatus.TOO_LONG -> {
                        readAlone(place);
                        goesOn = true;
                    }
                    default -> failed(failure(status));
                }
            } catch (Throwable e) {
                failed(e);
            }
            if (!goesOn) {
                oneEnded();
            }
        }

        @Override
        void threw(Throwable cause) {
            failed(cause);
            oneEnded();
        }

        private void readAlone(int place) {
            int from = place == 0 ? 0 : ends[place - 1];
            Read alone = new Read(key.asSlice(from, ends[place] - from).toArray(ValueLayout.JAVA_BYTE));
            alone.future.whenComplete((value, cause) -> {
                if (cause != null) {
                    failed(cause);
                } else {
                    values[place] = value;
                }
                oneEnded();
            });
            submitted.again(alone);
        }

        private void oneEnded() {
            left--;
            // Otherwise begin, which has not returned yet, returns that the operation has ended.
            if (left == 0 && taken == ends.length) {
                completed(0, StoreStatus.DONE, 0);
            }
        }

        @Override
        void done(int status, int bytes) {
            future.complete(Collections.unmodifiableList(Arrays.asList(values)));
        }

        @Override
        void failed(Throwable cause) {
            future.completeExceptionally(cause);
        }
    }

    private final class Change extends Request {

        final CompletableFuture<Boolean> future = new CompletableFuture<>();
        private final Operation operation;

        Change(byte[] key, Operation operation) {
            super(key);
            this.operation = operation;
        }

        @Override
        int begin() {
            return operation.begin(this);
        }

        @Override
        void done(int status, int bytes) {
            future.complete(status == StoreStatus.DONE);
        }

        @Override
        void failed(Throwable cause) {
            future.completeExceptionally(cause);
        }
    }

    @FunctionalInterface
    private interface Operation {
        int begin(Request request);
    }

    /** Takes ownership of the session. */
    FutureStoreSession(StoreSession session, Consumer<FutureStoreSession> onClose) {
        this.session = session;
        this.onClose = onClose;
        this.thread = Thread.ofPlatform().daemon().name("store-futures").start(this::run);
    }

    /** The value of a key, or null if it is absent. */
    public CompletableFuture<byte @Nullable []> read(byte[] key) {
        Read read = new Read(key);
        submit(read);
        return read.future;
    }

    /**
     * The values of many keys, in their order; null for a key that is absent. For keys whose records are in memory this
     * takes a fraction of the time of a {@link #read} for each. Each read finds the value at some moment within the
     * call; the reads have no order among them. The future fails if one of the reads fails. While it is pending, it
     * takes 256 bytes a key.
     *
     * @throws IllegalArgumentException if there are more than 1,048,576 keys
     */
    public CompletableFuture<List<byte @Nullable []>> readAll(List<byte[]> keys) {
        byte[][] all = keys.toArray(byte[][]::new);
        if (all.length > MOST_OF_MANY) {
            throw new IllegalArgumentException(
                    all.length + " keys in one call; it may have " + MOST_OF_MANY + ": cut the list");
        }
        if (all.length == 0) {
            return CompletableFuture.completedFuture(List.of());
        }
        int[] ends = new int[all.length];
        int end = 0;
        for (int i = 0; i < all.length; i++) {
            end = Math.addExact(end, all[i].length);
            ends[i] = end;
        }
        byte[] joined = new byte[end];
        for (int i = 0; i < all.length; i++) {
            System.arraycopy(all[i], 0, joined, ends[i] - all[i].length, all[i].length);
        }
        ReadAll read = new ReadAll(joined, ends);
        submit(read);
        return read.future;
    }

    /** Stores a value, whether the key is there or not. */
    public CompletableFuture<@Nullable Void> upsert(byte[] key, byte[] value) {
        MemorySegment from = MemorySegment.ofArray(value);
        return change(key, request -> session.upsert(request.key, 0, request.keyBytes, from, 0, value.length))
                .thenApply(done -> null);
    }

    /** Deletes a key, if it is there. */
    public CompletableFuture<@Nullable Void> delete(byte[] key) {
        return change(key, request -> session.delete(request.key, 0, request.keyBytes))
                .thenApply(done -> null);
    }

    /**
     * Reads, changes and writes a value, atomically.
     *
     * @return false if the key is absent and the update makes no value
     */
    public CompletableFuture<Boolean> update(byte[] key, Update update, long argument) {
        Objects.requireNonNull(update);
        return change(key, request -> session.update(request.key, 0, request.keyBytes, update, argument, request, 0));
    }

    private CompletableFuture<Boolean> change(byte[] key, Operation operation) {
        Change change = new Change(key, operation);
        submit(change);
        return change.future;
    }

    private void submit(Request request) {
        submitted.submit(request, thread);
    }

    /** Whether the calling thread is this object's own, which runs dependent actions. */
    boolean runsHere() {
        return Thread.currentThread() == thread;
    }

    /**
     * Finishes the operations that were submitted, and closes the session. Idempotent.
     *
     * @throws IllegalStateException within a dependent action on this object's thread, which would wait for itself
     */
    @Override
    public void close() {
        if (runsHere()) {
            throw new IllegalStateException(
                    "an action of a future closes the thread that completes futures; make it an ...Async one");
        }
        submitted.close(thread);
        onClose.accept(this);
    }

    private void run() {
        try {
            while (!submitted.closing() || !submitted.isEmpty() || !begun.isEmpty()) {
                boolean progress = beginAll();
                progress |= poll();
                if (!progress) {
                    await();
                }
            }
        } catch (Throwable e) {
            LOG.log(System.Logger.Level.ERROR, "a store's thread of futures cannot continue: its operations fail", e);
        } finally {
            submitted.refuseNew();
            try {
                session.close();
            } catch (RuntimeException e) {
                LOG.log(System.Logger.Level.ERROR, "a session of futures cannot be closed in order", e);
            } finally {
                // Copy the set: a dependent action of a future that fails may end other operations.
                List.copyOf(begun).forEach(request -> request.failed(closed()));
                begun.clear();
                submitted.end();
            }
        }
    }

    private boolean poll() {
        try {
            return session.poll();
        } catch (Throwable e) {
            if (throwers.isEmpty()) {
                throw e;
            }
            // Only these operations have ended; the session is not affected.
            while (!throwers.isEmpty()) {
                throwers.remove().threw(e);
            }
            return true;
        }
    }

    /**
     * Whether a status means that the poll throws an exception. A read's array is always accessible, so SEGMENT_GONE
     * stands for another exception here, for example that an index that grows has no memory.
     */
    private static boolean hasThrown(int status) {
        return status == StoreStatus.THREW || status == StoreStatus.SEGMENT_GONE;
    }

    private void await() {
        // An interrupt by an action would make parking return at once.
        Thread.interrupted();
        if (session.pending() > 0) {
            session.awaitProgress();
        } else if (!submitted.isEmpty()) {
            LockSupport.parkNanos(this, NAP_NANOS);
        } else if (!submitted.closing()) {
            LockSupport.park(this);
        }
    }

    /** Begins the submitted operations in their order, until one finds no room. @return whether any has begun */
    private boolean beginAll() {
        boolean some = false;
        for (Request request = submitted.peek(); request != null; request = submitted.peek()) {
            int outcome;
            try {
                outcome = request.begin();
            } catch (Throwable e) {
                submitted.poll();
                request.failed(e);
                continue;
            }
            if (outcome == StoreStatus.FULL) {
                return some;
            }
            submitted.poll();
            some = true;
            if (outcome == StoreStatus.PENDING) {
                begun.add(request);
            } else {
                request.completed(0, outcome, session.valueBytes());
            }
        }
        return some;
    }

    private static RuntimeException failure(int status) {
        return status == StoreStatus.CLOSED
                ? closed()
                : new StoreException("an operation has failed: " + StoreStatus.describe(status), status);
    }

    private static IllegalStateException closed() {
        return new IllegalStateException("the session is closed");
    }
}
