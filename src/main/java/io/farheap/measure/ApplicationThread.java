package io.farheap.measure;

import io.farheap.cache.Buffer;
import io.farheap.cache.Cache;
import io.farheap.cache.CacheSession;
import io.farheap.cache.contract.Completion;
import io.farheap.cache.contract.Status;
import io.farheap.thread.ThreadAffinity;
import io.farheap.thread.ThreadJoiner;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * A thread of an application that uses a cache through a session of its own, in a closed loop: a fixed number of
 * requests is in flight, and each completion is followed by another request. Records are chosen at random, aligned to
 * their size; each request is a read with a given probability, else a write.
 */
final class ApplicationThread implements AutoCloseable {

    private static final VarHandle COMPLETED;

    static {
        try {
            COMPLETED = MethodHandles.lookup().findVarHandle(ApplicationThread.class, "completed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Random choices, drawn in advance so that the loop draws none. The length is a power of two. */
    private static final int REQUESTS = 1 << 16;

    private static final int ROUNDS = 64;

    private final CacheSession session;
    private final Buffer buffer;
    private final int record;
    private final int inFlight;
    private final int core;
    /** Of each request to come: the address, or its complement for a write. */
    private final long[] requests = new long[REQUESTS];

    private final Thread thread;
    private int next;
    private int outstanding;
    private long completed;
    private int slot;
    private final Completion onDone = (token, status) -> {
        if (status != Status.OK) {
            throw new IllegalStateException("a request ended with " + Status.describe(status));
        }
        outstanding--;
    };
    private volatile boolean stopped;
    private volatile @Nullable Throwable failure;

    /**
     * @param record bytes of each request
     * @param readPercent share of reads
     * @param inFlight requests between issue and callback at all times
     * @param seed of the records and their order
     * @param core the core on which the thread runs, or {@link ThreadAffinity#ANY}
     */
    ApplicationThread(Cache cache, int record, int readPercent, int inFlight, long seed, int core) {
        this.core = core;
        this.record = record;
        this.inFlight = inFlight;
        SplittableRandom random = new SplittableRandom(seed);
        long records = cache.capacity() / record;
        for (int i = 0; i < REQUESTS; i++) {
            long address = random.nextLong(records) * record;
            requests[i] = random.nextInt(100) < readPercent ? address : ~address;
        }
        buffer = cache.allocate((long) record * inFlight);
        try {
            session = cache.openSession();
        } catch (Throwable e) {
            buffer.close();
            throw e;
        }
        session.release();
        thread = new Thread(this::run, "application");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        try {
            ThreadAffinity.pin(core);
            while (!stopped) {
                for (int i = 0; i < ROUNDS; i++) {
                    round();
                }
            }
            session.drain();
        } catch (Throwable e) {
            failure = e;
        } finally {
            if (failure == null) {
                session.close();
            }
        }
    }

    private void round() {
        while (outstanding < inFlight && issue()) {
            outstanding++;
            next++;
        }
        int called = session.poll();
        if (called > 0) {
            COMPLETED.setOpaque(this, completed + called);
        }
    }

    private boolean issue() {
        long request = requests[next & REQUESTS - 1];
        long offset = (long) slot * record;
        boolean issued = request >= 0
                ? session.read(request, buffer, offset, record, onDone, 0)
                : session.write(~request, buffer, offset, record, onDone, 0);
        if (issued && ++slot == inFlight) {
            slot = 0;
        }
        return issued;
    }

    /**
     * How many requests have completed so far. Any thread may call it.
     *
     * @throws IllegalStateException if the thread has ended with an error
     */
    long completed() {
        if (failure != null) {
            throw new IllegalStateException("the load on the cache ended: " + failure.getMessage(), failure);
        }
        return (long) COMPLETED.getOpaque(this);
    }

    /**
     * Stops the thread, and returns when none of its requests is in flight. If the thread has ended with an error, its
     * session and buffer stay open, since requests may still be in flight.
     */
    @Override
    public void close() {
        stopped = true;
        ThreadJoiner.join(thread);
        if (failure == null) {
            buffer.close();
        }
    }
}
