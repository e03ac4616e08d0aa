package io.farheap.tier.file;

import io.farheap.memory.Plurals;
import io.farheap.thread.ThreadJoiner;
import io.farheap.thread.Uninterruptibles;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.FileOptions;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BaseHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Threads that read and write, and wait for the disk. Handles put their requests into one queue. A thread that finds
 * the queue empty sets its bit in {@code asleep}, looks once more, and parks. A handle offers its request, executes a
 * full fence and then reads {@code asleep}; it clears one bit and unparks that thread. So either the thread sees the
 * request, or the handle sees the bit.
 */
public final class FileThreads implements FileEngine {

    private static final VarHandle ASLEEP;

    static {
        try {
            ASLEEP = MethodHandles.lookup().findVarHandle(FileThreads.class, "asleep", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int MAX_HANDLES = 1024;
    private static final int QUEUE = 1 << 14;
    private static final int SLOT_BITS = 16;
    private static final long AWAIT_NANOS = 10_000_000;
    private static final AtomicInteger DEVICES = new AtomicInteger();

    private final int requests;
    private final ManyToManyLongQueue queue = new ManyToManyLongQueue(QUEUE);
    private final AtomicReferenceArray<Handle> handles = new AtomicReferenceArray<>(MAX_HANDLES);
    /** A bit for each thread that sleeps, or is about to. */
    @SuppressWarnings("unused")
    private volatile long asleep;

    private final Thread[] threads;
    private volatile boolean stopped;

    public FileThreads(FileOptions options) {
        this.requests = options.requests();
        int device = DEVICES.incrementAndGet();
        this.threads = new Thread[options.threads()];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = Thread.ofPlatform()
                    .daemon()
                    .name("farheap-file-" + device + "-" + i)
                    .unstarted(() -> run(number));
        }
        for (Thread thread : threads) {
            thread.start();
        }
    }

    @Override
    public String name() {
        return Plurals.of(threads.length, "thread");
    }

    @Override
    public FileHandle open(Device device, BaseHandle.Registry registry, FileLog log) {
        Handle handle = new Handle(device, registry, log, requests);
        for (int i = 0; i < MAX_HANDLES; i++) {
            handle.number = i;
            if (handles.compareAndSet(i, null, handle)) {
                return handle;
            }
        }
        throw new IllegalStateException(
                "the device has " + MAX_HANDLES + " handles open, the most that there may be; close some");
    }

    private void run(int number) {
        long bit = 1L << number;
        while (!stopped) {
            long request = queue.poll();
            if (request != ManyToManyLongQueue.NONE) {
                perform(request);
                continue;
            }
            ASLEEP.getAndBitwiseOr(this, bit);
            if (!queue.hasNext() && !stopped) {
                LockSupport.park(this);
            }
            ASLEEP.getAndBitwiseAnd(this, ~bit);
        }
    }

    private void perform(long request) {
        Handle handle = handles.get((int) (request >>> SLOT_BITS));
        int slot = (int) request & (1 << SLOT_BITS) - 1;
        try {
            handle.perform(slot);
        } catch (RuntimeException | Error e) {
            handle.slots.status[slot] = IoStatus.FAILED;
        }
        handle.performed(slot);
    }

    private void wakeOne() {
        VarHandle.fullFence();
        for (long bits = asleep; bits != 0; bits = asleep) {
            long bit = Long.lowestOneBit(bits);
            if (ASLEEP.compareAndSet(this, bits, bits & ~bit)) {
                LockSupport.unpark(threads[Long.numberOfTrailingZeros(bit)]);
                return;
            }
        }
    }

    @Override
    public void close() {
        stopped = true;
        for (Thread thread : threads) {
            LockSupport.unpark(thread);
            ThreadJoiner.join(thread);
        }
    }

    private final class Handle extends FileHandle {

        private int number;
        /** Slots whose requests the threads have performed. */
        private final ManyToManyLongQueue performed;

        private volatile @Nullable Thread sleeper;

        Handle(Device device, Registry registry, FileLog log, int requests) {
            super(device, registry, log, requests);
            performed = new ManyToManyLongQueue(requests);
        }

        @Override
        boolean submit(int slot) {
            if (!queue.offer((long) number << SLOT_BITS | slot)) {
                return false;
            }
            wakeOne();
            return true;
        }

        /** Called on a thread of the engine. */
        void performed(int slot) {
            boolean offered = performed.offer(slot);
            assert offered : "there is a place for each slot";
            VarHandle.fullFence();
            Thread thread = sleeper;
            if (thread != null) {
                LockSupport.unpark(thread);
            }
        }

        @Override
        int reap() {
            int count = 0;
            long slot;
            while (count < slots.capacity() && (slot = performed.poll()) != ManyToManyLongQueue.NONE) {
                count++;
                end((int) slot);
            }
            return count;
        }

        @Override
        void await() {
            sleeper = Thread.currentThread();
            VarHandle.fullFence();
            if (!performed.hasNext()) {
                Uninterruptibles.parkNanos(FileThreads.this, AWAIT_NANOS);
            }
            sleeper = null;
        }

        @Override
        protected void end() {
            handles.set(number, null);
        }
    }
}
