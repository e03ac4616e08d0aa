package io.farheap.store.log;

import io.farheap.lifetime.CloseStack;
import io.farheap.store.contract.StoreStatus;
import io.farheap.thread.AgentThread;
import io.farheap.thread.ThreadAffinity;
import io.farheap.thread.Uninterruptibles;
import io.farheap.thread.idle.Idle;
import io.farheap.tier.device.AppendCompletion;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.IoStatus;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The log's own thread. It moves the marks of a log, each in two steps ({@code io.farheap.store}'s
 * {@code package-info}), writes pages to the device, and gives memory to pages ahead of the tail. A session waits for
 * it only if it needs a page that has no memory yet.
 *
 * <p>If the device refuses a write, since a disk is full for example, the bytes stay in memory and are written again,
 * after a pause that grows. Meanwhile operations that need room wait. Once the device has refused for longer than the
 * patience, they fail, until a later write succeeds. Nothing that was done is lost.
 */
public final class LogThread implements AgentThread.DutyCycle, AppendCompletion, AutoCloseable {

    /** Receives the bytes of the log that are written to the device. */
    public interface Written {

        /**
         * Called on the log's thread as a write begins, with bytes that no session changes any more.
         *
         * @param from the address of the first of them in the log
         */
        void add(long from, ByteBuffer bytes);
    }

    /** How many pages ahead of the tail have memory. */
    private static final int AHEAD = 2;
    /** How many writes may be in flight. */
    private static final int PARTS = 8;

    private static final int STOP_REMIND_MILLIS = 100;
    private static final long NAP_NANOS = 1_000_000;
    private static final long EVICTION_NANOS = 50_000;
    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000_000;

    private final HybridLog log;
    private final LogAddresses marks;
    private final PageFrames frames;
    private final Epochs epochs;
    private final Device device;
    private final DeviceHandle handle;
    private final @Nullable Written listener;
    private final @Nullable ReadCache cache;
    private final long alignment;
    private final long mutableBytes;
    private final AgentThread agent;

    /** The epoch that {@code readOnly} waits for, or 0, and the mark's new value. */
    private long readOnlyEpoch;

    private long readOnlyTarget;
    private long headEpoch;
    private long headTarget;
    /** The first page that has memory. */
    private long firstPage;

    // A ring of the parts that are being written. A part is numbered from 0 on; its place is its number modulo PARTS.
    private final long[] partFrom = new long[PARTS];
    private final long[] partEnd = new long[PARTS];
    private final boolean[] partWritten = new boolean[PARTS];
    private final boolean[] partReleased = new boolean[PARTS];
    /** Whether the device has refused a part and has not written it since, and whether it must be sent again. */
    private final boolean[] partRefused = new boolean[PARTS];

    private final boolean[] partWaits = new boolean[PARTS];
    private int refused;
    /** Whether the device accepts no write although none is under way. */
    private boolean stalled;

    private long pauseNanos = FIRST_PAUSE_NANOS;
    private long retryAt = System.nanoTime();
    private long oldest;
    private long next;
    private long oldestUnwritten;
    /**
     * The end of the parts whose writes were started, and the end of those whose memory the device does not read any
     * more.
     */
    private long begun;

    private long released;

    /** The end of the log that the device has. */
    private volatile long written;
    /** The address up to which {@link #writeUpTo} asked for the log to be read-only. */
    private volatile long wanted;
    /** The address up to which {@link #evict} asked for the log's memory to be taken. */
    private volatile long evicted;

    private final Duration patience;
    /** The reason why the log cannot be written any more. */
    private volatile @Nullable Throwable failure;
    /** The reason why the device refuses writes at this moment, and since when; null if it does not. */
    private volatile @Nullable Throwable refusal;

    private volatile long refusedSince;
    private Runnable look = () -> {};
    private volatile BooleanSupplier compacted = () -> false;

    /**
     * @param listener receives the bytes that are written, if the log is to outlive the process; otherwise null
     * @param mutableShare the share of the pages in memory that are updated in place, from 0 to 1
     * @param patience how long operations wait while the device refuses writes, before they fail
     */
    public LogThread(
            String name,
            HybridLog log,
            Device device,
            double mutableShare,
            Duration patience,
            @Nullable Written listener,
            @Nullable ReadCache cache) {
        this.patience = patience;
        this.cache = cache;
        this.listener = listener;
        this.log = log;
        this.marks = log.marks;
        this.frames = log.frames;
        this.epochs = log.epochs;
        this.device = device;
        this.alignment = device.alignment();
        long most = frames.count - AHEAD - 1L;
        this.mutableBytes = Math.clamp((long) (frames.count * mutableShare), 0, most) * log.pageBytes();
        long first = log.tail();
        this.firstPage = log.page(first);
        this.begun = first;
        this.released = first;
        this.written = first;
        this.agent = new AgentThread(name, Idle.PARK, ThreadAffinity.ANY, this);
        this.handle = device.open();
        giveMemory();
    }

    /**
     * @param look is called each time a page gets memory
     * @param compacted whether the log is being compacted, or will be once it has no room
     */
    public void start(Runnable look, BooleanSupplier compacted) {
        this.look = look;
        this.compacted = compacted;
        log.servedBy(agent.start());
    }

    @Override
    public int round() {
        int done = handle.poll();
        done += moveReadOnly();
        done += write();
        done += moveHead();
        done += giveMemory();
        done += log.open();
        if (cache != null) {
            done += cache.round();
        }
        return done;
    }

    private int moveReadOnly() {
        int done = 0;
        if (readOnlyEpoch != 0 && epochs.passed(readOnlyEpoch)) {
            marks.safeReadOnly(readOnlyTarget);
            readOnlyEpoch = 0;
            done = 1;
        }
        if (readOnlyEpoch == 0) {
            long target = Math.max(log.startOf(log.page(log.tail())) - mutableBytes, wanted);
            if (target > marks.readOnly()) {
                marks.readOnly(target);
                readOnlyTarget = target;
                readOnlyEpoch = epochs.advance();
                done = 1;
            }
        }
        return done;
    }

    /** Starts writes of the read-only part of the log; each write is within one page. */
    private int write() {
        int done = refused > 0 ? writeAgain() : 0;
        long to = marks.safeReadOnly();
        while (begun < to && next - oldest < PARTS && failure == null) {
            long from = begun & -alignment;
            if (from < begun && written < begun) {
                // A write of an earlier part of this block is in flight, and the order of two writes of one block is
                // not defined.
                break;
            }
            long end = Math.min(to, log.startOf(log.page(begun) + 1));
            int part = (int) (next % PARTS);
            if (!append(from, end, next)) {
                if (handle.pending() == 0) {
                    stalled = true;
                    refuse("the device takes no writes at this moment", device.refusal());
                }
                break;
            }
            if (stalled) {
                stalled = false;
                passed();
            }
            if (listener != null) {
                listener.add(begun, frames.bytes(begun, end - begun));
            }
            partFrom[part] = from;
            partEnd[part] = end;
            partWritten[part] = false;
            partReleased[part] = false;
            next++;
            begun = end;
            done = 1;
        }
        return done;
    }

    /** @return false if the handle is full */
    private boolean append(long from, long end, long number) {
        long padded = end + alignment - 1 & -alignment;
        return handle.append(from, frames.registered(), frames.offsetOf(from), padded - from, this, number);
    }

    /**
     * Sends parts again that the device has refused. Their bytes are the same: no session changes them, and their
     * memory is not taken before they are written.
     */
    private int writeAgain() {
        int done = 0;
        boolean due = System.nanoTime() - retryAt >= 0;
        for (long number = oldestUnwritten; due && number < next; number++) {
            int part = (int) (number % PARTS);
            if (partWaits[part] && partReleased[part]) {
                partWaits[part] = false;
                partReleased[part] = false;
                if (append(partFrom[part], partEnd[part], number)) {
                    done = 1;
                } else {
                    partWaits[part] = true;
                    partReleased[part] = true;
                    due = false;
                }
            }
        }
        return done;
    }

    @Override
    public void appended(long token, int status) {
        int part = (int) (token % PARTS);
        if (status == IoStatus.GONE || status == IoStatus.CLOSED) {
            fail(new IllegalStateException("the log could not be written: " + IoStatus.describe(status, device)));
            return;
        }
        if (status != IoStatus.OK) {
            refused += partRefused[part] ? 0 : 1;
            partRefused[part] = true;
            partWaits[part] = true;
            refuse("the log could not be written", IoStatus.describe(status, device));
            return;
        }
        if (partRefused[part]) {
            partRefused[part] = false;
            refused--;
        }
        passed();
        partWritten[part] = true;
        while (oldestUnwritten < next && partWritten[(int) (oldestUnwritten % PARTS)]) {
            written = partEnd[(int) (oldestUnwritten++ % PARTS)];
        }
    }

    @Override
    public void released(long token) {
        partReleased[(int) (token % PARTS)] = true;
        while (oldest < oldestUnwritten && partReleased[(int) (oldest % PARTS)]) {
            released = partEnd[(int) (oldest++ % PARTS)];
        }
    }

    private void refuse(String what, @Nullable String why) {
        long now = System.nanoTime();
        if (now - retryAt >= 0) {
            retryAt = now + pauseNanos;
            pauseNanos = Math.min(2 * pauseNanos, LONGEST_PAUSE_NANOS);
        }
        if (refusal == null) {
            refusedSince = now;
            refusal = new IllegalStateException(why == null ? what : what + ": " + why);
        }
    }

    /** Called after a success. */
    private void passed() {
        pauseNanos = FIRST_PAUSE_NANOS;
        if (refused == 0 && !stalled && refusal != null) {
            refusal = null;
        }
    }

    /**
     * Takes the memory of the oldest page if the tail will need it, or if a compaction asks for it: it moves
     * {@code head} first, and takes the frame once no session is left inside an epoch from before.
     */
    private int moveHead() {
        int done = 0;
        if (headEpoch != 0 && epochs.passed(headEpoch)) {
            headEpoch = 0;
            while (log.startOf(firstPage + 1) <= headTarget) {
                frames.take(firstPage++);
            }
            done = 1;
        }
        boolean needed = frames.free() == 0 && lacksMemory() && log.hasRoom();
        if (headEpoch == 0 && (needed || log.startOf(firstPage + 1) <= evicted)) {
            long target = log.startOf(firstPage + 1);
            if (target <= released && target <= marks.safeReadOnly()) {
                marks.head(target);
                headTarget = target;
                headEpoch = epochs.advance();
                done = 1;
            }
        }
        return done;
    }

    private boolean lacksMemory() {
        return log.ready() < log.page(log.tail()) + AHEAD;
    }

    private int giveMemory() {
        int done = 0;
        while (lacksMemory() && frames.free() > 0 && log.hasRoom()) {
            long page = log.ready() + 1;
            frames.give(page);
            look.run();
            log.ready(page);
            done = 1;
        }
        return done;
    }

    @Override
    public void sleep() {
        if (handle.pending() > 0) {
            handle.awaitProgress();
        } else if (readOnlyEpoch != 0 || headEpoch != 0 || log.waits() || cache != null && cache.waits()) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(this, NAP_NANOS);
        }
    }

    @Override
    public void died(Throwable cause) {
        fail(cause);
    }

    private void fail(Throwable cause) {
        if (failure == null) {
            failure = cause;
        }
    }

    /**
     * The reason why the log cannot be written any more, or why the device has refused writes for longer than the
     * patience and still does; otherwise null. Any thread.
     */
    public @Nullable Throwable failure() {
        Throwable now = refusal;
        if (failure != null || now == null) {
            return failure;
        }
        boolean over = Duration.ofNanos(System.nanoTime() - refusedSince).compareTo(patience) > 0;
        return over ? now : null;
    }

    /**
     * The status of work that has found no room: FULL if there will be room; FAILED if the log cannot be written;
     * NO_SPACE if the device has no room, and no compaction will make some. Any thread.
     *
     * @param kind of {@link HybridLog}
     */
    public int full(int kind) {
        if (failure() != null) {
            return StoreStatus.FAILED;
        }
        boolean comes = kind == HybridLog.COMPACTION
                ? log.hasSpare()
                : !log.atCapacity(kind) || compacted.getAsBoolean() && !log.isFull(kind);
        return comes ? StoreStatus.FULL : StoreStatus.NO_SPACE;
    }

    /**
     * The status of an operation that waits for anything but room, such as the end of a checkpoint or of a write: FULL,
     * or FAILED if the log cannot be written any more, since that may never come then. Any thread.
     */
    public int busy() {
        return failure == null ? StoreStatus.FULL : StoreStatus.FAILED;
    }

    /** Asks for all of the log below the address to become read-only and be written. Any thread. */
    public synchronized void writeUpTo(long address) {
        wanted = Math.max(wanted, address);
        log.wake();
    }

    /**
     * Takes the memory of the log below an address, so that a compaction can pass over it, and returns when it is
     * taken. Any thread, outside an epoch.
     *
     * @param address a page's, at most that of the tail's page
     * @return false if the log cannot be written
     */
    public boolean evict(long address) {
        synchronized (this) {
            wanted = Math.max(wanted, address);
            evicted = Math.max(evicted, address);
        }
        while (marks.head() < address) {
            if (failure() != null) {
                return false;
            }
            log.wake();
            Uninterruptibles.parkNanos(this, EVICTION_NANOS);
        }
        return true;
    }

    /** The address up to which the device has the log. Any thread. */
    public long written() {
        return written;
    }

    @Override
    public void close() {
        CloseStack everything = new CloseStack();
        everything.add(handle);
        everything.add(() -> agent.stop(LockSupport::unpark, STOP_REMIND_MILLIS));
        everything.close();
    }
}
