package io.farheap.store;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
 */
public final class StoreSession implements AutoCloseable {

    private final Consumer<StoreSession> owner;
    private final Epochs epochs;
    private final int epoch;
    private final HashIndex index;
    private final LogThread logThread;
    private final SessionVersion version;
    private final Operations records;
    private final Updates updates;
    private final DeviceReads device;
    private final SessionCounts counts = new SessionCounts();
    private final long keyScratch;
    private final Arena scratch = Arena.ofShared();

    /** Operations that were accepted; and those that belong to versions that the session has left. */
    private long serial;

    private volatile long passedSerial;
    private boolean closed;

    StoreSession(Consumer<StoreSession> owner, StoreParts parts, LogThread logThread, SessionOptions options) {
        this.owner = owner;
        this.epochs = parts.epochs();
        this.index = parts.index();
        this.logThread = logThread;
        this.version = new SessionVersion(parts.version());
        this.records = new Operations(parts, version);
        this.updates = new Updates(parts, version, records);
        this.keyScratch = scratch.allocate(Layout.padded(options.maxKeyBytes()), Long.BYTES)
                .address();
        this.maxKeyBytes = options.maxKeyBytes();
        this.epoch = epochs.take();
        try {
            this.device = new DeviceReads(parts, options, records, updates, epoch, counts);
        } catch (Throwable e) {
            epochs.giveBack(epoch);
            scratch.close();
            throw e;
        }
    }

    private final int maxKeyBytes;

    /**
     * As {@link #read(MemorySegment, long, int, MemorySegment, long, int, StoreCompletion, long)}, by a key of 8 bytes.
     */
    public int read(long key, MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        enter();
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
        checkKey(keyBytes);
        enter();
        try {
            records.key.use(key, keyOffset, keyBytes, keyScratch);
        } catch (Throwable e) {
            leave();
            throw e;
        }
        return read(into, offset, room, completion, token);
    }

    private int read(MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        int outcome;
        try {
            outcome = records.read(into, offset, room);
        } finally {
            leave();
        }
        if (outcome == Operations.ON_DEVICE) {
            outcome = device.startRead(into, offset, room, completion, token);
        }
        if (outcome != StoreStatus.FULL) {
            counts.reads++;
            serial++;
        }
        return outcome;
    }

    /** Of the value that the last read has found at once. */
    public int valueBytes() {
        return records.bytes;
    }

    /** As {@link #upsert(MemorySegment, long, int, MemorySegment, long, int)}, by a key of 8 bytes. */
    public int upsert(long key, MemorySegment from, long offset, int bytes) {
        enter();
        records.key.use(key);
        return upsert(from, offset, bytes);
    }

    /**
     * Stores a value, whether the key is there or not.
     *
     * @return DONE, FULL, or FAILED where the device refuses what memory cannot keep
     */
    public int upsert(MemorySegment key, long keyOffset, int keyBytes, MemorySegment from, long offset, int bytes) {
        checkKey(keyBytes);
        enter();
        try {
            records.key.use(key, keyOffset, keyBytes, keyScratch);
        } catch (Throwable e) {
            leave();
            throw e;
        }
        return upsert(from, offset, bytes);
    }

    private int upsert(MemorySegment from, long offset, int bytes) {
        int outcome;
        try {
            records.checkValue(bytes);
            outcome = records.upsert(from, offset, bytes);
        } finally {
            leave();
        }
        if (outcome == StoreStatus.DONE) {
            counts.upserts++;
            serial++;
            return outcome;
        }
        return full();
    }

    /** As {@link #delete(MemorySegment, long, int)}, by a key of 8 bytes. */
    public int delete(long key) {
        enter();
        records.key.use(key);
        return delete();
    }

    /**
     * Deletes a key.
     *
     * @return DONE; NOT_FOUND where it is known at once that there is none; FULL or FAILED
     */
    public int delete(MemorySegment key, long keyOffset, int keyBytes) {
        checkKey(keyBytes);
        enter();
        try {
            records.key.use(key, keyOffset, keyBytes, keyScratch);
        } catch (Throwable e) {
            leave();
            throw e;
        }
        return delete();
    }

    private int delete() {
        int outcome;
        try {
            outcome = records.delete();
        } finally {
            leave();
        }
        if (outcome == StoreStatus.DONE || outcome == StoreStatus.NOT_FOUND) {
            counts.deletes++;
            serial++;
            return outcome;
        }
        return full();
    }

    /** As {@link #update(MemorySegment, long, int, Update, long, StoreCompletion, long)}, by a key of 8 bytes. */
    public int update(long key, Update update, long argument, StoreCompletion completion, long token) {
        enter();
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
        checkKey(keyBytes);
        enter();
        try {
            records.key.use(key, keyOffset, keyBytes, keyScratch);
        } catch (Throwable e) {
            leave();
            throw e;
        }
        return update(update, argument, completion, token);
    }

    private int update(Update update, long argument, StoreCompletion completion, long token) {
        int outcome;
        try {
            outcome = updates.update(update, argument);
        } finally {
            leave();
        }
        if (outcome == Operations.ON_DEVICE || outcome == Operations.AGAIN) {
            // None is begun that would keep the session from passing to the next version.
            outcome = behind
                    ? StoreStatus.FULL
                    : device.startUpdate(update, argument, outcome == Operations.ON_DEVICE, completion, token);
        }
        if (outcome == StoreStatus.FULL) {
            return full();
        }
        counts.updates++;
        serial++;
        return outcome;
    }

    private int full() {
        return logThread.failure() == null ? StoreStatus.FULL : StoreStatus.FAILED;
    }

    /** Whether the store has a later version, to which the session cannot pass yet. */
    private boolean behind;

    private void enter() {
        if (closed) {
            throw new IllegalStateException("the session is closed");
        }
        epochs.enter(epoch);
        if (version.look()) {
            pass();
        }
    }

    private void pass() {
        behind = device.pending.updates() > 0;
        if (!behind) {
            passedSerial = serial;
            version.pass();
        }
    }

    private void leave() {
        epochs.leave(epoch);
    }

    private void checkKey(int bytes) {
        if (bytes < 1 || bytes > maxKeyBytes) {
            throw new IllegalArgumentException("a key of " + bytes + " bytes; this store has keys of 1 to "
                    + maxKeyBytes + ": create it for longer ones");
        }
    }

    /** Lets what is pending make progress, and calls back. @return whether something happened */
    public boolean poll() {
        boolean done = device.poll();
        if (device.pending.updates() == 0) {
            enter();
            leave();
        }
        return done;
    }

    /** Operations that are not called back yet. */
    public int pending() {
        return device.pending.pending();
    }

    /** Polls until nothing is pending. */
    public void drain() {
        while (pending() > 0) {
            if (!poll()) {
                device.await();
            }
        }
    }

    /** Waits until a poll may find something, some milliseconds at most. */
    public void awaitProgress() {
        if (pending() > 0) {
            device.await();
        }
    }

    /** Brings the bucket of a key into the processor's cache: before a group of operations, for each. */
    public long touch(long key) {
        return index.touch(Hashes.of(key));
    }

    /** Reads of the device that operations have made so far: more than one each where chains or records are long. */
    public long deviceReads() {
        return counts.deviceReads;
    }

    SessionCounts counts() {
        return counts;
    }

    /** What is pending is called back first. */
    @Override
    public void close() {
        if (!closed) {
            drain();
            end();
        }
    }

    /** By the store, or the session's thread. */
    void end() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            device.close();
        } finally {
            epochs.giveBack(epoch);
            scratch.close();
            owner.accept(this);
        }
    }
}
