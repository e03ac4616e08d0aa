package io.farheap.store;

import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.store.format.Hashes;
import io.farheap.store.format.NativeWords;
import io.farheap.store.index.HashIndex;
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
 * {@link StoreStatus}; one that says {@link StoreStatus#PENDING} has its record on the device, goes on in
 * {@link #poll}, and is called back there, on the thread that polls. One that says {@link StoreStatus#FULL} has done
 * nothing: poll, then do it again. Nothing here allocates.
 *
 * <p>Operations of one key that do not wait take effect in their order. One that is pending takes effect at some moment
 * until it is called back; whoever needs an order waits for that. Between sessions each operation takes effect at once
 * at one moment, also on values longer than 8 bytes.
 *
 * <p>Once the session is closed, or the store is while its thread goes on, each call throws
 * {@link IllegalStateException} and does nothing; {@link #close}, by the session's thread, calls back what was pending
 * then, with {@link StoreStatus#CLOSED} where the store is closed, and may be called again.
 *
 * <p>A {@code BlockingStoreSession} has the same operations for who would rather wait.
 */
public final class StoreSession implements AutoCloseable {

    /** For which it sleeps where the log's thread is to make room. */
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
        this.records = new InMemoryOperations(parts, version, options.spare());
        this.updates = new ReadModifyWrites(parts, version, records);
        this.keys = new SessionKeys(records.key, parts.log().layout, options.maxKeyBytes());
        this.gate = new SessionGate(parts.epochs());
        try {
            this.device = new DeviceReads(
                    parts, options, records, updates, gate.epoch(), counts, logThread.full(options.spare()));
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
     * @param into belongs to the operation while it is pending
     * @return DONE: the value is there, and has {@link #valueBytes} bytes; NOT_FOUND; TOO_LONG; PENDING; or FULL
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
     * Reads many values, by keys of 8 bytes. Buckets and records of many are brought into the processor's cache
     * together, so for many keys at once this takes a fraction of the time of a {@code read} for each. Every read that
     * is taken is called back: within this call where its record is in memory, else in {@link #poll}. Each by itself
     * finds what was there at a moment within this call or later; there is no order among them.
     *
     * @param from the first key, and {@code count} how many
     * @param into takes the value of {@code keys[i]} at {@code offset + i * room}; belongs to the reads while they are
     *     pending
     * @param room bytes that each value may have
     * @param token of key 0; {@code keys[i]} has {@code token + i}
     * @return how many were taken, from the first on; fewer than {@code count} where the session is full: poll, and ask
     *     for the others
     * @throws IndexOutOfBoundsException where there are not so many keys, or not so much of {@code into}
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
     * @param keys has the keys one behind the other, from its first byte on; not used after the call
     * @param ends of each key: behind its last byte, where the next begins
     * @param from the first key, and {@code count} how many
     * @throws IllegalArgumentException where a key has a length that this store's keys have not; none was taken
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

    /** Of the value that the last read has found at once. */
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
     * @return DONE, FULL, or FAILED where the device refuses what memory cannot keep
     */
    public int upsert(MemorySegment key, long keyOffset, int keyBytes, MemorySegment from, long offset, int bytes) {
        useKey(key, keyOffset, keyBytes);
        return upsert(from, offset, bytes);
    }

    private int upsert(MemorySegment from, long offset, int bytes) {
        enter();
        try {
            records.checkValue(bytes);
            if (records.upsert(from, offset, bytes) != StoreStatus.DONE) {
                return logThread.full();
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
     * @return DONE; NOT_FOUND where it is known at once that there is none; FULL or FAILED
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
                return logThread.full();
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
     * Reads, changes and writes a value, as one.
     *
     * @return DONE; NOT_FOUND where the key is absent and the update makes none; PENDING; FULL or FAILED
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
                // None is begun that would be pending when sessions pass to the next version.
                outcome = version.draining()
                        ? StoreStatus.FULL
                        : device.startUpdate(
                                update, argument, outcome == InMemoryOperations.ON_DEVICE, completion, token);
            }
            if (outcome == StoreStatus.FULL) {
                return logThread.full();
            }
            counts.updates++;
            serials.accept(1);
            return outcome;
        } finally {
            gate.leaveUpdate();
        }
    }

    /** What a compaction uses of it, which has it alone. */
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
            return outcome == StoreStatus.FULL ? logThread.full() : outcome;
        } finally {
            gate.leave();
        }
    }

    private void enter() {
        gate.enter();
        serials.look();
    }

    private void useKey(MemorySegment key, long offset, int bytes) {
        keys.check(bytes);
        // It may be copied to memory that ends with the session.
        gate.checkOpen();
        keys.use(key, offset, bytes);
    }

    /** Lets what is pending make progress, and calls back. @return whether something happened */
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

    /** Operations that are not called back yet. */
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
     * Waits until a poll may find something, or what was {@link StoreStatus#FULL} may find room; some milliseconds at
     * most.
     */
    public void awaitProgress() {
        if (pending() > 0) {
            await();
        } else {
            Uninterruptibles.parkNanos(this, NAP_NANOS);
        }
    }

    /** Brings the bucket of a key into the processor's cache: before a group of operations, for each. */
    public long touch(long key) {
        enter();
        long touched = index.touch(Hashes.of(key));
        gate.leave();
        return touched;
    }

    /** Reads of the device that operations have made so far: more than one each where chains or records are long. */
    public long deviceReads() {
        return counts.deviceReads;
    }

    /** Lets another thread use it from now on; the caller hands it over by whatever means threads have. */
    public void release() {
        device.release();
    }

    /**
     * Brings the newest record of a key into the processor's cache, if it is in memory: behind {@link #touch}, for
     * each.
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

    /** The session as the store has it. */
    ListedSession listed() {
        return listed;
    }

    /** As given with {@link FarStore#openSession(String)}; empty for one that nothing is remembered of. */
    public String name() {
        return listed.name();
    }

    /**
     * How many operations it has accepted: of a session with a name, also those of its earlier lives that a recovered
     * checkpoint has. By the session's thread.
     */
    public long serial() {
        return serials.accepted();
    }

    /** How many of its operations, the first so many, are in a checkpoint that is durable. Any thread. */
    public long durableSerial() {
        return serials.durable();
    }

    /**
     * Waits until a checkpoint is durable that has so many of its operations, and polls meanwhile. It makes none: some
     * other thread does, or the store by itself ({@link FarStoreBuilder#checkpointEvery}).
     *
     * @param operations as {@link #serial} said behind the last of them
     * @return false where the time is over
     * @throws StoreException where the log cannot be written any more
     */
    public boolean awaitDurable(long operations, Duration atMost) {
        return serials.awaitDurable(operations, atMost, logThread, this::poll);
    }

    /**
     * What is pending is called back first; what that throws comes out at the end.
     *
     * @throws IllegalStateException within an update, or a callback of a poll, or where another thread has used the
     *     device in it last, not released it, and runs; it stays as it is
     */
    @Override
    public void close() {
        gate.refuseWithin();
        SessionDrain.end(gate, this::pending, this::drain, listed::end);
    }
}
