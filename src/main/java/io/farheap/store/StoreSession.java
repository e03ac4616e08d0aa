package io.farheap.store;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.store.format.Hashes;
import io.farheap.store.format.NativeWords;
import io.farheap.store.index.HashIndex;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogThread;
import io.farheap.store.maintain.Compactor;
import io.farheap.store.operation.InMemoryOperations;
import io.farheap.store.operation.ReadModifyWrites;
import io.farheap.store.operation.SessionVersion;
import io.farheap.store.operation.StoreContext;
import io.farheap.store.session.DeviceReads;
import io.farheap.store.session.GroupReads;
import io.farheap.store.session.ListedSession;
import io.farheap.store.session.SessionDrain;
import io.farheap.store.session.SessionGate;
import io.farheap.store.session.SessionKeys;
import io.farheap.store.session.SessionOptions;
import io.farheap.store.session.SessionSerials;
import io.farheap.store.session.StoreSessionCounts;
import io.farheap.thread.Uninterruptibles;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * Reads and changes a {@link FarStore}: for one thread at a time. Operations return at once, with a
 * {@link StoreStatus}. An operation that returns {@link StoreStatus#PENDING} has its record on the device; it continues
 * in {@link #poll}, which calls its completion on the thread that polls. An operation that returns
 * {@link StoreStatus#FULL} has done nothing: poll, then try again. Operations do not allocate.
 *
 * <p>Operations on one key that are not pending take effect in the order of the calls. A pending operation takes effect
 * at some moment before its completion is called; an application that needs an order waits for that. For other
 * sessions, each operation takes effect at one moment, also on values longer than 8 bytes.
 *
 * <p>After the session or its store is closed, each call throws {@link IllegalStateException} and does nothing. If the
 * store was closed first, the session's thread still calls {@link #close}, which ends pending operations with
 * {@link StoreStatus#CLOSED}; it may be called again.
 *
 * <p>A {@link BlockingStoreSession} has the same operations as blocking calls.
 */
public final class StoreSession implements AutoCloseable {

    /** How long to sleep while the log's thread makes room. */
    private static final long NAP_NANOS = 20_000;

    private final HashIndex index;
    private final LogThread logThread;
    private final SessionVersion version;
    private final SessionSerials serials;
    private final SessionGate gate;
    private final InMemoryOperations records;
    private final ReadModifyWrites updates;
    private final DeviceReads device;
    private final GroupReads groups;
    private final StoreSessionCounts counts = new StoreSessionCounts();
    private final SessionKeys keys;
    private final ListedSession listed;

    StoreSession(
            String name,
            long serial,
            Consumer<ListedSession> owner,
            StoreContext parts,
            LogThread logThread,
            SessionOptions options) {
        this.index = parts.index();
        this.logThread = logThread;
        this.version = new SessionVersion(parts.version());
        this.serials = new SessionSerials(version, serial);
        this.records = new InMemoryOperations(parts, version, options.kind());
        this.updates = new ReadModifyWrites(parts, version, records);
        this.keys = new SessionKeys(records.key, parts.log().layout, options.maxKeyBytes());
        this.gate = new SessionGate(parts.epochs());
        try {
            this.device = new DeviceReads(
                    parts, options, records, updates, gate.epoch(), counts, this::full, logThread::busy);
            this.groups = new GroupReads(parts.index(), gate, serials, records, device, keys, counts);
            this.listed = new ListedSession(name, serials, gate, counts, device, owner);
        } catch (Throwable e) {
            gate.giveBack();
            throw e;
        }
    }

    /**
     * As {@link #read(MemorySegment, long, int, MemorySegment, long, int, StoreCompletion, long)}, by a key of 8 bytes.
     */
    public int read(long key, MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        records.key.use(key);
        return read(into, offset, room, completion, token);
    }

    /**
     * Reads a value.
     *
     * @param room bytes that the value may have
     * @param into where to put the value; it belongs to the operation while that is pending
     * @return DONE, and {@link #valueBytes} returns the value's length; NOT_FOUND; TOO_LONG; PENDING; or FULL
     * @throws IllegalArgumentException if the store cannot have keys of that length
     */
    public int read(
            MemorySegment key,
            long keyOffset,
            int keyBytes,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        useKey(key, keyOffset, keyBytes);
        return read(into, offset, room, completion, token);
    }

    private int read(MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        enter();
        try {
            int outcome = records.read(records.found(), into, offset, room);
            if (outcome == InMemoryOperations.ON_DEVICE) {
                outcome = device.startRead(into, offset, room, completion, token);
            }
            if (outcome != StoreStatus.FULL) {
                counts.reads++;
                serials.accept(1);
            }
            return outcome;
        } finally {
            gate.leave();
        }
    }

    /**
     * Reads many values, by keys of 8 bytes. The cache misses of many keys' buckets and records overlap, so that many
     * keys at once take a fraction of the time of a {@code read} for each. The completion is called for every read that
     * is accepted: within this call if its record is in memory, otherwise in {@link #poll}. Each read finds the value
     * at some moment within this call or later; the reads have no order among them.
     *
     * @param from the first key, and {@code count} how many
     * @param into takes the value of {@code keys[i]} at {@code offset + i * room}; belongs to the reads while they are
     *     pending
     * @param room bytes that each value may have
     * @param token of key 0; {@code keys[i]} has {@code token + i}
     * @return how many reads were accepted, from the first key on; fewer than {@code count} if the session is full:
     *     poll, then read the others
     * @throws IndexOutOfBoundsException if there are fewer keys, or if {@code into} is too short
     */
    public int readAll(
            long[] keys,
            int from,
            int count,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        return groups.read(keys, from, count, into, offset, room, completion, token);
    }

    /**
     * As {@link #readAll(long[], int, int, MemorySegment, long, int, StoreCompletion, long)}, by keys of any length;
     * the first call allocates room for them.
     *
     * @param keys holds the keys without gaps, from its first byte on; not used after the call
     * @param ends the end of each key, exclusive; the next key begins there
     * @param from the first key, and {@code count} how many
     * @throws IllegalArgumentException if the store cannot have keys of that length; no read was accepted then
     */
    public int readAll(
            MemorySegment keys,
            int[] ends,
            int from,
            int count,
            MemorySegment into,
            long offset,
            int room,
            StoreCompletion completion,
            long token) {
        return groups.read(keys, ends, from, count, into, offset, room, completion, token);
    }

    /** The length in bytes of the value that the last read returned at once. */
    public int valueBytes() {
        return records.bytes;
    }

    /** As {@link #upsert(MemorySegment, long, int, MemorySegment, long, int)}, by a key of 8 bytes. */
    public int upsert(long key, MemorySegment from, long offset, int bytes) {
        records.key.use(key);
        return upsert(from, offset, bytes);
    }

    /**
     * Stores a value, whether the key is there or not.
     *
     * @return DONE; FULL; NO_SPACE if live records take all of the space; or FAILED if the log cannot be written
     * @throws IllegalArgumentException if the store cannot have keys or values of that length, or the record does not
     *     fit into a page
     */
    public int upsert(MemorySegment key, long keyOffset, int keyBytes, MemorySegment from, long offset, int bytes) {
        useKey(key, keyOffset, keyBytes);
        return upsert(from, offset, bytes);
    }

    private int upsert(MemorySegment from, long offset, int bytes) {
        enter();
        try {
            records.checkValue(bytes);
            int outcome = records.upsert(from, offset, bytes);
            if (outcome != StoreStatus.DONE) {
                return refused(outcome);
            }
            counts.upserts++;
            serials.accept(1);
            return StoreStatus.DONE;
        } finally {
            gate.leave();
        }
    }

    /** As {@link #delete(MemorySegment, long, int)}, by a key of 8 bytes. */
    public int delete(long key) {
        records.key.use(key);
        return delete();
    }

    /**
     * Deletes a key.
     *
     * @return DONE; NOT_FOUND if it is known at once that there is no such key; FULL, NO_SPACE or FAILED
     */
    public int delete(MemorySegment key, long keyOffset, int keyBytes) {
        useKey(key, keyOffset, keyBytes);
        return delete();
    }

    private int delete() {
        enter();
        try {
            int outcome = records.delete();
            if (outcome != StoreStatus.DONE && outcome != StoreStatus.NOT_FOUND) {
                return refused(outcome);
            }
            counts.deletes++;
            serials.accept(1);
            return outcome;
        } finally {
            gate.leave();
        }
    }

    /** As {@link #update(MemorySegment, long, int, Update, long, StoreCompletion, long)}, by a key of 8 bytes. */
    public int update(long key, Update update, long argument, StoreCompletion completion, long token) {
        records.key.use(key);
        return update(update, argument, completion, token);
    }

    /**
     * Reads, changes and writes a value, atomically.
     *
     * @param argument passed to each method of the update
     * @return DONE; NOT_FOUND if the key is absent and the update makes no value; PENDING; FULL, NO_SPACE or FAILED
     */
    public int update(
            MemorySegment key,
            long keyOffset,
            int keyBytes,
            Update update,
            long argument,
            StoreCompletion completion,
            long token) {
        useKey(key, keyOffset, keyBytes);
        return update(update, argument, completion, token);
    }

    private int update(Update update, long argument, StoreCompletion completion, long token) {
        gate.enterUpdate();
        try {
            serials.look();
            int outcome = updates.update(update, argument);
            if (outcome == InMemoryOperations.ON_DEVICE || outcome == InMemoryOperations.AGAIN) {
                // Refuse an update that would be pending when sessions pass to the next version.
                outcome = version.draining()
                        ? StoreStatus.FULL
                        : device.startUpdate(
                                update, argument, outcome == InMemoryOperations.ON_DEVICE, completion, token);
            }
            if (outcome == StoreStatus.FULL || outcome == InMemoryOperations.NO_ROOM) {
                return refused(outcome);
            }
            counts.updates++;
            serials.accept(1);
            return outcome;
        } finally {
            gate.leaveUpdate();
        }
    }

    /** The session as a compaction uses it; no other code uses such a session. */
    Compactor.Mover mover() {
        return new Compactor.Mover() {
            @Override
            public int move(MemorySegment page, long record, long address, StoreCompletion completion) {
                return StoreSession.this.move(page, record, address, completion);
            }

            @Override
            public boolean poll() {
                return StoreSession.this.poll();
            }

            @Override
            public void drain() {
                StoreSession.this.drain();
            }
        };
    }

    private int move(MemorySegment page, long record, long address, StoreCompletion completion) {
        records.useKeyOf(record);
        enter();
        try {
            int outcome = updates.move(page, record, address);
            if (outcome == InMemoryOperations.ON_DEVICE) {
                outcome = version.draining() ? StoreStatus.FULL : device.startMove(address, completion);
            }
            return outcome == InMemoryOperations.NO_ROOM || outcome == StoreStatus.FULL ? refused(outcome) : outcome;
        } finally {
            gate.leave();
        }
    }

    /**
     * The status of an operation that has done nothing. Only one that lacks room in the log may lack it for good; one
     * that waits for another session, for a checkpoint, or for a place among the pending operations is tried again, as
     * long as the log's thread lives.
     */
    private int refused(int outcome) {
        return outcome == InMemoryOperations.NO_ROOM ? full(records.lacked) : logThread.busy();
    }

    /** The status of work that has found no room. While a checkpoint is made, it may be changed in place afterwards. */
    private int full(int kind) {
        int status = logThread.full(kind);
        boolean waits = status == StoreStatus.NO_SPACE && kind != HybridLog.COMPACTION && version.changing();
        return waits ? StoreStatus.FULL : status;
    }

    private void enter() {
        gate.enter();
        serials.look();
    }

    private void useKey(MemorySegment key, long offset, int bytes) {
        keys.check(bytes);
        // The key may be copied to memory that is freed with the session.
        gate.checkOpen();
        keys.use(key, offset, bytes);
    }

    /** Lets pending operations make progress, and calls completions. @return whether anything happened */
    public boolean poll() {
        gate.enterPoll();
        try {
            return device.poll();
        } finally {
            gate.leavePoll();
        }
    }

    private void await() {
        gate.enterPoll();
        try {
            device.await();
        } finally {
            gate.leavePoll();
        }
    }

    /** How many operations are pending. */
    public int pending() {
        return device.pending.pending();
    }

    /** Polls until nothing is pending. */
    public void drain() {
        while (pending() > 0) {
            if (!poll()) {
                await();
            }
        }
    }

    /**
     * Waits until a poll may make progress, for as long as {@link io.farheap.tier.device.DeviceHandle#awaitProgress} of
     * the device waits: on far memory until a request has ended, or the thread is unparked. With nothing pending it
     * sleeps for 20 us, in which there may have become room for an operation that returned {@link StoreStatus#FULL}.
     */
    public void awaitProgress() {
        if (pending() > 0) {
            await();
        } else {
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }

    /**
     * Brings the bucket of a key into the processor's cache. Call it for each key of a group before their operations,
     * so that their cache misses overlap.
     *
     * @return a word of the bucket, without a meaning: a caller that uses it keeps the compiler from removing the load
     */
    public long touch(long key) {
        enter();
        long touched = index.touch(Hashes.of(key));
        gate.leave();
        return touched;
    }

    /**
     * How many reads of the device operations have made so far: more than one for an operation if its chain or record
     * is long.
     */
    public long deviceReads() {
        return counts.deviceReads;
    }

    /**
     * Lets another thread use the session from now on. The caller hands it over with a happens-before edge, as between
     * any threads.
     */
    public void release() {
        device.release();
    }

    /**
     * Brings the newest record of a key into the processor's cache, if it is in memory. Call it for each key of a
     * group, after {@link #touch}.
     *
     * @return as {@link #touch}: a word of the record, or 0 if it is not in memory
     */
    public long touchRecord(long key) {
        enter();
        try {
            records.key.use(key);
            long record = records.firstOf(records.found());
            return record == 0 ? 0 : NativeWords.getOpaque(record);
        } finally {
            gate.leave();
        }
    }

    /** The session's entry in the store's list. */
    ListedSession listed() {
        return listed;
    }

    /**
     * The name that was given to {@link FarStore#openSession(String)}; empty for a session that checkpoints do not
     * remember.
     */
    public String name() {
        return listed.name();
    }

    /**
     * How many operations the session has accepted; for a session with a name, including those of its earlier lives
     * that a recovered checkpoint has. Called by the session's thread.
     */
    public long serial() {
        return serials.accepted();
    }

    /** How many of the session's first operations are in a durable checkpoint. Any thread. */
    public long durableSerial() {
        return serials.durable();
    }

    /**
     * Waits until a durable checkpoint has the session's first {@code operations} operations, and polls meanwhile. This
     * method takes no checkpoint: another thread does, or the store's own ({@link FarStoreBuilder#checkpointEvery}).
     *
     * @param operations what {@link #serial} returned after the last of them
     * @return false if the time is up
     * @throws StoreException if the log cannot be written, as {@link FarStore#failure} says
     */
    public boolean awaitDurable(long operations, Duration atMost) {
        return serials.awaitDurable(operations, atMost, logThread, this::poll);
    }

    /**
     * Polls until nothing is pending, then closes the session. If completions or updates throw, the first exception is
     * thrown at the end.
     *
     * @throws IllegalStateException within an update or a callback of a poll, or if another thread, which is alive, was
     *     the last to use the session for the device and has not released it; the session stays open
     */
    @Override
    public void close() {
        gate.refuseWithin();
        SessionDrain.end(gate, this::pending, this::drain, listed::end);
    }
}
