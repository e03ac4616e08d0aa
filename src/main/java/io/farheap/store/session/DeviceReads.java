package io.farheap.store.session;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import io.farheap.memory.NativeMemory;
import io.farheap.memory.SharedMemory;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.log.Epochs;
import io.farheap.store.log.LogAddresses;
import io.farheap.store.log.LogGaps;
import io.farheap.store.operation.CompactionUpdate;
import io.farheap.store.operation.InMemoryOperations;
import io.farheap.store.operation.ReadModifyWrites;
import io.farheap.store.operation.StoreContext;
import io.farheap.thread.Uninterruptibles;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceHandle;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoCompletion;
import io.farheap.tier.device.IoStatus;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import java.util.function.IntUnaryOperator;

/**
 * Operations of one session whose records are on the device (FASTER, section 5.3). Each operation reads as many bytes
 * as a record is expected to have. If the record is longer, it reads once more; if the record has another key, it reads
 * the next record of the chain. After an update has read its record it looks at the index again, since a record that
 * was published meanwhile is newer.
 */
public final class DeviceReads implements IoCompletion, AutoCloseable {

    // How a place continues when it is tried again: look up the key, read the record, or update with or without an old
    // value.
    private static final int LOOK_UP = 0;
    private static final int READ = 1;
    private static final int FOUND = 2;
    private static final int ABSENT = 3;

    private static final long NAP_NANOS = 20_000;

    /** How many records that are longer than expected can be read at a time. */
    private static final int WIDE = 2;

    public final PendingTable pending;

    private final DeviceHandle handle;
    private final InMemoryOperations records;
    private final ReadModifyWrites updates;
    private final Epochs epochs;
    private final int epoch;
    private final LogAddresses marks;
    private final RecordLayout layout;
    private final LogGaps gaps;
    private final StoreSessionCounts counts;

    /** The status of a kind of work that finds no room: FULL if it is to be tried again. */
    private final IntUnaryOperator full;

    private final IntSupplier busy;

    private final long alignment;
    private final long pageBytes;
    private final int expected;
    private final int narrowBytes;
    private final int keyRoom;
    private final SharedMemory memory;
    private final DeviceMemory registered;
    private final long base;
    private final long keys;
    /** Set when the session ends or its store is closed: the store's parts must not be used any more. */
    private volatile boolean left;
    /** Whether a thread has begun to end the session; guarded by this object. */
    private boolean claimed;

    private final boolean[] wideTaken = new boolean[WIDE];

    /** @param epoch the session's place in the epochs */
    public DeviceReads(
            StoreContext parts,
            SessionOptions options,
            InMemoryOperations records,
            ReadModifyWrites updates,
            int epoch,
            StoreSessionCounts counts,
            IntUnaryOperator full,
            IntSupplier busy) {
        Device device = parts.device();
        this.full = full;
        this.busy = busy;
        this.pending = new PendingTable(options.pending());
        this.records = records;
        this.updates = updates;
        this.epochs = parts.epochs();
        this.epoch = epoch;
        this.marks = parts.log().marks;
        this.layout = parts.log().layout;
        this.gaps = parts.gaps();
        this.counts = counts;
        this.alignment = device.alignment();
        this.pageBytes = parts.log().pageBytes();
        this.expected = options.expectedRecordBytes();
        this.keyRoom = (int) RecordLayout.padded(options.maxKeyBytes());
        // From the block that holds the record's first byte to the block that holds its last.
        this.narrowBytes = (int) ((expected + 2 * alignment - 2) / alignment * alignment);
        long narrow = roundUp((long) narrowBytes * pending.places, SharedMemory.PAGE_BYTES);
        long wide = layout == RecordLayout.COMPACT ? 0 : WIDE * pageBytes;
        long keyed =
                layout == RecordLayout.COMPACT ? 0 : roundUp((long) keyRoom * pending.places, SharedMemory.PAGE_BYTES);
        this.memory = SharedMemory.allocate("farheap-store-reads", wide + narrow + keyed);
        this.base = memory.segment().address();
        this.keys = base + wide + narrow;
        DeviceMemory made = null;
        try {
            made = device.register(memory.segment());
            this.registered = made;
            this.handle = device.open();
        } catch (Throwable e) {
            if (made != null) {
                made.close();
            }
            memory.close();
            throw e;
        }
    }

    private static long roundUp(long value, long unit) {
        return (value + unit - 1) / unit * unit;
    }

    private long wideBytes() {
        return layout == RecordLayout.COMPACT ? 0 : WIDE * pageBytes;
    }

    public int startRead(MemorySegment into, long offset, int room, StoreCompletion completion, long token) {
        int place = take(PendingTable.READ, completion, token);
        if (place < 0) {
            return StoreStatus.FULL;
        }
        counts.onDevice++;
        pending.into[place] = into;
        pending.offset[place] = offset;
        pending.room[place] = room;
        begin(place);
        return StoreStatus.PENDING;
    }

    /** @param onDevice whether the record is on the device; if not, the update is tried again as it is */
    public int startUpdate(Update update, long argument, boolean onDevice, StoreCompletion completion, long token) {
        int place = take(PendingTable.UPDATE, completion, token);
        if (place < 0) {
            return StoreStatus.FULL;
        }
        pending.update[place] = update;
        pending.argument[place] = argument;
        if (onDevice) {
            counts.onDevice++;
            begin(place);
        } else {
            again(place, LOOK_UP);
        }
        return StoreStatus.PENDING;
    }

    /** Starts to copy a record, which may be the newest of its key, to the tail; it is copied if it is the newest. */
    public int startMove(long address, StoreCompletion completion) {
        int place = take(PendingTable.MOVE, completion, 0);
        if (place < 0) {
            return StoreStatus.FULL;
        }
        pending.update[place] = CompactionUpdate.UPDATE;
        pending.argument[place] = address;
        begin(place);
        return StoreStatus.PENDING;
    }

    private int take(int kind, StoreCompletion completion, long token) {
        int place = pending.take(kind);
        if (place >= 0) {
            pending.completion[place] = completion;
            pending.token[place] = token;
            OperationKey key = records.key;
            pending.keyBytes[place] = key.bytes;
            if (key.bytes == Long.BYTES) {
                pending.key[place] = key.word;
            } else {
                long copy = keys + (long) place * keyRoom;
                MemorySegment.copy(
                        NativeMemory.ALL, key.memory, NativeMemory.ALL, copy, RecordLayout.padded(key.bytes));
                pending.key[place] = copy;
            }
        }
        return place;
    }

    private void useKey(int place) {
        if (pending.keyBytes[place] == Long.BYTES) {
            records.key.use(pending.key[place]);
        } else {
            records.key.use(pending.key[place], pending.keyBytes[place]);
        }
    }

    /** Reads the chain from {@link InMemoryOperations#address} on. */
    private void begin(int place) {
        pending.first[place] = records.address;
        pending.address[place] = records.address;
        readRecord(place, expected);
    }

    private void readRecord(int place, long length) {
        long address = pending.address[place];
        long from = address & -alignment;
        long pageEnd = (address & -pageBytes) + pageBytes;
        long to = Math.min(address + length + alignment - 1 & -alignment, pageEnd);
        int wide = to - from > narrowBytes ? takeWide(place) : pending.wide[place];
        if (to - from > narrowBytes && wide < 0) {
            pending.bytes[place] = (int) length;
            again(place, READ);
            return;
        }
        pending.from[place] = from;
        pending.bytes[place] = (int) (to - from);
        counts.deviceReads++;
        if (!handle.read(from, registered, memoryOf(place) - base, to - from, this, place)) {
            counts.deviceReads--;
            pending.bytes[place] = (int) length;
            again(place, READ);
        }
    }

    private int takeWide(int place) {
        for (int i = 0; i < WIDE && pending.wide[place] < 0; i++) {
            if (!wideTaken[i]) {
                wideTaken[i] = true;
                pending.wide[place] = i;
            }
        }
        return pending.wide[place];
    }

    private long memoryOf(int place) {
        return pending.wide[place] >= 0
                ? base + pending.wide[place] * pageBytes
                : base + wideBytes() + (long) place * narrowBytes;
    }

    private void again(int place, int next) {
        pending.next[place] = next;
        pending.again(place);
    }

    /** Tries the operations again that could not continue. */
    void tryAgain() {
        int count = pending.toTry();
        int tried = 0;
        try {
            while (tried < count) {
                int place = pending.toTry(tried++);
                switch (pending.next[place]) {
                    case LOOK_UP -> lookUp(place);
                    case READ -> readRecord(place, pending.bytes[place]);
                    default -> goOn(place, pending.next[place]);
                }
            }
        } finally {
            pending.tried(tried);
        }
    }

    private void lookUp(int place) {
        useKey(place);
        int outcome;
        epochs.enter(epoch);
        records.lookAtVersion();
        try {
            outcome = switch (pending.kind[place]) {
                case PendingTable.READ ->
                    records.read(records.found(), pending.into[place], pending.offset[place], pending.room[place]);
                case PendingTable.UPDATE -> updates.update(pending.update[place], pending.argument[place]);
                default -> updates.onDevice();
            };
        } catch (Throwable e) {
            epochs.leave(epoch);
            threw(place);
            throw e;
        }
        epochs.leave(epoch);
        after(place, outcome, LOOK_UP);
    }

    @Override
    public void completed(long token, int status) {
        int place = (int) token;
        if (status == IoStatus.OK && !left) {
            look(place);
        } else if (left || status == IoStatus.CLOSED) {
            finish(place, StoreStatus.CLOSED, 0);
        } else if (status == IoStatus.GONE && pending.address[place] < marks.begin()) {
            // A compaction has copied the record to the tail, or it is not needed any more: look in the index.
            again(place, LOOK_UP);
        } else {
            // The device no longer has an address that the log has not given back: the record is lost.
            boolean lost = status == IoStatus.GONE || status == IoStatus.LOST;
            finish(place, lost ? StoreStatus.LOST : StoreStatus.FAILED, 0);
        }
    }

    /** Looks at a record, or the part of it, that was read. */
    private void look(int place) {
        long address = pending.address[place];
        long record = memoryOf(place) + address - pending.from[place];
        long there = pending.from[place] + pending.bytes[place] - address;
        long header = NativeWords.get(record);
        if (header == 0) {
            finish(place, StoreStatus.LOST, 0);
            return;
        }
        long length = there < 16 ? 16 : layout.recordBytes(record);
        if (length > there) {
            if (length > pageBytes) {
                finish(place, StoreStatus.LOST, 0);
            } else {
                readRecord(place, length);
            }
            return;
        }
        useKey(place);
        if (records.key.of(record) && gaps.counts(address, header)) {
            found(place, record, StoreRecord.deleted(header));
            return;
        }
        long previous = StoreRecord.previous(header);
        if (previous >= marks.begin()) {
            pending.address[place] = previous;
            readRecord(place, expected);
        } else if (pending.kind[place] == PendingTable.READ && chainChanged(place)) {
            // The record may have been copied from below the log's beginning to the front of the chain, before the part
            // that was read.
            again(place, LOOK_UP);
        } else {
            found(place, 0, true);
        }
    }

    /** Whether the chain of the operation's key now has the key in memory, or begins elsewhere on the device. */
    private boolean chainChanged(int place) {
        boolean inMemory;
        epochs.enter(epoch);
        try {
            inMemory = records.inMemory(records.chain(records.found()), marks.head()) != 0;
        } catch (Throwable e) {
            epochs.leave(epoch);
            threw(place);
            throw e;
        }
        epochs.leave(epoch);
        return inMemory || records.address != pending.first[place];
    }

    private void found(int place, long record, boolean absent) {
        if (pending.kind[place] == PendingTable.MOVE && (absent || pending.address[place] != pending.argument[place])) {
            finish(place, StoreStatus.NOT_FOUND, 0);
        } else if (pending.kind[place] != PendingTable.READ) {
            goOn(place, absent ? ABSENT : FOUND);
        } else if (absent) {
            finish(place, StoreStatus.NOT_FOUND, 0);
        } else {
            int bytes = records.valueBytes(record);
            if (bytes > pending.room[place]) {
                finish(place, StoreStatus.TOO_LONG, 0);
                return;
            }
            keep(place, record);
            int status = StoreStatus.SEGMENT_GONE;
            try {
                NativeWords.copyOut(records.valueAt(record), pending.into[place], pending.offset[place], bytes);
                status = StoreStatus.DONE;
            } finally {
                finish(place, status, bytes);
            }
        }
    }

    /** Adds a copy to the read cache for later reads. If none can be made, this read still succeeds. */
    private void keep(int place, long record) {
        epochs.enter(epoch);
        try {
            records.keep(record, pending.first[place]);
        } catch (Throwable e) {
            // For example, an index that grows has no memory.
        } finally {
            epochs.leave(epoch);
        }
    }

    /** Continues an update whose record has been read. */
    private void goOn(int place, int what) {
        long record = memoryOf(place) + pending.address[place] - pending.from[place];
        int oldBytes = what == ABSENT ? -1 : records.valueBytes(record);
        long oldAt = what == ABSENT ? 0 : records.valueAt(record) - base;
        int outcome;
        useKey(place);
        epochs.enter(epoch);
        records.lookAtVersion();
        try {
            outcome = updates.updateWith(
                    pending.first[place],
                    memory.segment(),
                    oldAt,
                    oldBytes,
                    pending.update[place],
                    pending.argument[place]);
        } catch (Throwable e) {
            epochs.leave(epoch);
            threw(place);
            throw e;
        }
        epochs.leave(epoch);
        after(place, outcome, what);
    }

    /** Ends an operation whose update or memory segment has thrown; the poll throws the exception on. */
    private void threw(int place) {
        finish(place, pending.kind[place] == PendingTable.READ ? StoreStatus.SEGMENT_GONE : StoreStatus.THREW, 0);
    }

    private void after(int place, int outcome, int next) {
        int status = outcome;
        if (outcome == InMemoryOperations.NO_ROOM) {
            status = full.applyAsInt(records.lacked);
            if (status == StoreStatus.FULL && pending.kind[place] == PendingTable.UPDATE && records.isInTheWay()) {
                // The checkpoint waits until no update is pending, and there is no room before it is made.
                finish(place, status, 0);
                return;
            }
        } else if (outcome == InMemoryOperations.AGAIN || outcome == StoreStatus.FULL) {
            status = busy.getAsInt();
        }
        switch (status) {
            case InMemoryOperations.ON_DEVICE -> begin(place);
            case StoreStatus.FULL -> again(place, next);
            default -> finish(place, status, pending.kind[place] == PendingTable.READ ? records.bytes : 0);
        }
    }

    private void finish(int place, int status, int bytes) {
        StoreCompletion completion = pending.completion[place];
        long token = pending.token[place];
        if (pending.wide[place] >= 0) {
            wideTaken[pending.wide[place]] = false;
        }
        pending.giveBack(place);
        SessionGate.tell(completion, token, status, status == StoreStatus.DONE ? bytes : 0, left || claimed);
    }

    /** @return whether anything happened */
    public boolean poll() {
        int before = pending.pending();
        int done = handle.poll();
        if (pending.toTry() > 0) {
            tryAgain();
        }
        return done > 0 || pending.pending() != before;
    }

    /** Waits until a poll may make progress. */
    public void await() {
        if (handle.pending() > 0) {
            handle.awaitProgress();
        } else if (pending.toTry() > 0) {
            if (Thread.currentThread().isVirtual()) {
                // A virtual thread that only yields could keep others from running.
                Uninterruptibles.parkNanos(this, NAP_NANOS);
            } else {
                Thread.yield();
            }
        }
    }

    /** Lets another thread use this object. */
    public void release() {
        handle.release();
    }

    /**
     * Claims the end of the session, which the session's thread and the store's closing thread may both want to
     * perform; the first one to claim does.
     *
     * @return whether the caller has claimed it
     * @throws IllegalStateException if the device's handle belongs to another thread; nothing has changed then
     */
    synchronized boolean claim() {
        if (claimed) {
            return false;
        }
        handle.own();
        claimed = true;
        return true;
    }

    /**
     * {@link #claim} by the store. If another thread owns the session, that thread closes it later, and uses the
     * store's parts no more.
     */
    boolean claimOrLeave() {
        try {
            if (claim()) {
                return true;
            }
        } catch (IllegalStateException e) {
            // The other thread owns it, and closes it.
        }
        left = true;
        return false;
    }

    /**
     * Ends pending operations with {@link StoreStatus#CLOSED}. Called by the thread that has claimed the end; memory is
     * freed whatever the handle or callbacks throw.
     */
    @Override
    public void close() {
        left = true;
        CloseStack everything = new CloseStack();
        everything.add(memory);
        everything.add(registered);
        everything.add(() -> Closeables.all(pending.ends(place -> finish(place, StoreStatus.CLOSED, 0))));
        everything.add(handle);
        everything.close();
    }
}
