package io.farheap.store.maintain;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.NativeMemory;
import io.farheap.memory.SharedMemory;
import io.farheap.store.contract.RecordVisitor;
import io.farheap.store.contract.StoreException;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogAddresses;
import io.farheap.store.operation.InMemoryOperations;
import io.farheap.store.operation.SessionVersion;
import io.farheap.store.operation.StoreContext;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.lang.foreign.MemorySegment;

/**
 * Visits the newest record of each key in the order of the log, while sessions use the store. It visits the log below
 * the tail at the time of the call. Records that are appended meanwhile lie behind that tail, so no key is passed over
 * or visited twice. No compaction runs meanwhile.
 *
 * <p>A record is the newest of its key if the key's chain has no other record of that key above it. The scan follows
 * the chain in memory; for each record of the chain that is on the device it needs one read of the device.
 */
public final class LogScanner {

    private final StoreContext parts;
    private final HybridLog log;
    private final LogAddresses marks;
    private final RecordLayout layout;
    private final InMemoryOperations records;
    private final RecordVisitor visitor;
    private final long tail;

    private final int epoch;
    private final MemorySegment memory;
    private final DeviceMemory registered;
    private final BlockingDeviceHandle call;
    /** Offset in {@link #memory} behind the page: room for parts of other records, or for a copy of one. */
    private final long aside;

    private final long base;
    /** The page of the device that {@link #memory} holds, or -1. */
    private long pageThere = -1;

    private LogScanner(
            StoreContext parts,
            RecordVisitor visitor,
            long tail,
            int epoch,
            SharedMemory memory,
            CloseStack resources) {
        this.parts = parts;
        this.log = parts.log();
        this.marks = log.marks;
        this.layout = log.layout;
        this.records = new InMemoryOperations(parts, new SessionVersion(parts.version()), HybridLog.OPERATION);
        this.visitor = visitor;
        this.tail = tail;
        this.epoch = epoch;
        this.memory = memory.segment();
        this.aside = log.pageBytes();
        this.base = this.memory.address();
        this.registered = resources.add(parts.device().register(this.memory));
        this.call = new BlockingDeviceHandle(resources.add(parts.device().open()));
    }

    /** @throws StoreException if the device fails, or has lost a part of the log */
    public static void run(StoreContext parts, RecordVisitor visitor) {
        long tail = parts.log().tail();
        // After this, every record that was allocated below the tail has been written.
        parts.epochs().awaitAll();
        try (CloseStack resources = new CloseStack()) {
            int epoch = parts.epochs().take();
            resources.add(() -> parts.epochs().giveBack(epoch));
            // Room for a page, and for a record as long as a page with the blocks around it.
            long bytes = 2 * parts.log().pageBytes() + 2 * SharedMemory.PAGE_BYTES;
            SharedMemory memory = resources.add(SharedMemory.allocate("farheap-store-scan", bytes));
            new LogScanner(parts, visitor, tail, epoch, memory, resources).scan();
        }
    }

    private void scan() {
        long address = marks.begin();
        while (address >= 0 && address < tail) {
            long pageEnd = Math.min(log.startOf(log.page(address) + 1), tail);
            address = address < marks.head() ? onDevice(address, pageEnd) : inMemory(address, pageEnd);
        }
    }

    /** @return where to continue, behind the page; -1 if the visitor wants no more */
    private long onDevice(long from, long pageEnd) {
        long at = parts.gaps().endOf(from);
        if (at >= pageEnd) {
            // The device may never have had the bytes of a gap.
            return at;
        }
        readPage(log.page(from));
        while (at + RecordLayout.LEAST_RECORD <= pageEnd) {
            long gapEnd = parts.gaps().endOf(at);
            if (gapEnd > at) {
                at = gapEnd;
                continue;
            }
            long record = base + (at - log.startOf(pageThere));
            long header = NativeWords.get(record);
            if (header == 0) {
                return pageEnd;
            }
            if (live(at, header)) {
                records.useKeyOf(record);
                if (newest(at) && !tell(record)) {
                    return -1;
                }
            }
            at += layout.recordBytes(record);
        }
        return Math.max(at, pageEnd);
    }

    private boolean live(long address, long header) {
        return (header & (StoreRecord.INVALID | StoreRecord.DELETED)) == 0
                && parts.gaps().counts(address, header);
    }

    /**
     * @return where to continue: behind the page, or within it if its memory was taken; -1 if the visitor wants no more
     */
    private long inMemory(long from, long pageEnd) {
        long at = from;
        while (at + RecordLayout.LEAST_RECORD <= pageEnd) {
            long next;
            boolean found;
            parts.epochs().enter(epoch);
            try {
                if (at < marks.head()) {
                    return at;
                }
                long record = log.frames.memoryOf(at);
                long header = NativeWords.getAcquire(record);
                if (header == 0) {
                    return pageEnd;
                }
                next = at + layout.recordBytes(record);
                found = live(at, header);
                if (found) {
                    records.useKeyOf(record);
                    found = above(at) == at;
                    if (found) {
                        copy(record);
                    }
                }
            } finally {
                parts.epochs().leave(epoch);
            }
            if (found && !tell(base + aside)) {
                return -1;
            }
            at = next;
        }
        return pageEnd;
    }

    /** Copies a record to {@link #aside}, so that this thread is outside an epoch while the visitor looks at it. */
    private void copy(long record) {
        int keyEnd = layout == RecordLayout.COMPACT ? 16 : 16 + (int) RecordLayout.padded(records.key.bytes);
        MemorySegment.copy(NativeMemory.ALL, record, memory, aside, keyEnd);
        records.copy(record, memory, aside + keyEnd, RecordLayout.MAX_VALUE_BYTES);
    }

    private boolean tell(long record) {
        long key = record - base + layout.keyOffset();
        long value = records.valueAt(record) - base;
        int keyBytes = layout == RecordLayout.COMPACT
                ? Long.BYTES
                : RecordLayout.keyBytes(NativeWords.get(record + RecordLayout.LENGTHS));
        return visitor.visit(memory, key, keyBytes, value, records.valueBytes(record));
    }

    /** Whether the record at an address is the newest one, below the tail, of the operation's key. */
    private boolean newest(long address) {
        long at;
        parts.epochs().enter(epoch);
        try {
            at = above(address);
        } finally {
            parts.epochs().leave(epoch);
        }
        while (at > address) {
            long record = look(at);
            long header = NativeWords.get(record);
            if (at < tail && records.key.of(record) && parts.gaps().counts(at, header)) {
                return false;
            }
            at = StoreRecord.previous(header);
        }
        return at == address;
    }

    /**
     * Follows the chain of the key down to {@code address}, in memory and inside an epoch.
     *
     * @return the address at which the chain continues, on the device or at {@code address} itself; 0 if another record
     *     is newer
     */
    private long above(long address) {
        long at = records.chain(records.found());
        long head = marks.head();
        while (at > address && at >= head) {
            long record = log.frames.memoryOf(at);
            long header = NativeWords.getAcquire(record);
            if (at < tail && records.key.of(record)) {
                return 0;
            }
            at = StoreRecord.previous(header);
        }
        return at;
    }

    private void readPage(long page) {
        if (page != pageThere) {
            pageThere = -1;
            read(log.startOf(page), 0, log.pageBytes());
            pageThere = page;
        }
    }

    /** Reads the header and the key of another record from the device. @return their address in memory */
    private long look(long address) {
        if (log.page(address) == pageThere) {
            return base + (address - log.startOf(pageThere));
        }
        long alignment = parts.device().alignment();
        long from = address & -alignment;
        long keyEnd = address + 16 + RecordLayout.padded(records.key.bytes);
        long to = Math.min(keyEnd + alignment - 1 & -alignment, log.startOf(log.page(address) + 1));
        read(from, aside, to - from);
        return base + aside + (address - from);
    }

    private void read(long from, long into, long bytes) {
        int status = call.read(from, registered, into, bytes);
        if (status != IoStatus.OK) {
            throw new StoreException("the log could not be scanned: " + IoStatus.describe(status, parts.device()));
        }
    }
}
