package io.farheap.store.maintain;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.store.contract.StoreCompletion;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.log.HybridLog;
import io.farheap.store.log.LogAddresses;
import io.farheap.store.operation.StoreContext;
import io.farheap.thread.Uninterruptibles;
import io.farheap.tier.device.Device;
import io.farheap.tier.device.DeviceMemory;
import io.farheap.tier.device.IoStatus;
import io.farheap.tier.handle.BlockingDeviceHandle;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Gives the oldest part of a log back while sessions use the store. It copies each record of that part which is the
 * newest of its key to the tail, then moves the log's beginning behind that part. A deleted key needs no copy: all
 * older records of it are in the same part, or before it.
 */
public final class Compactor {

    /** Copies records to the tail: a session that only the compaction uses. */
    public interface Mover {

        /**
         * Copies a record of the log to the tail, if it is the newest of its key.
         *
         * @param record a copy of it, in {@code page}
         * @param address its address in the log, below {@code head}
         * @return {@link StoreStatus#DONE}, NOT_FOUND if there is a newer one, PENDING, FULL or FAILED
         */
        int move(MemorySegment page, long record, long address, StoreCompletion completion);

        /** Polls pending operations and calls their completions. @return whether anything happened */
        boolean poll();

        /** Polls until nothing is pending. */
        void drain();
    }

    /** Lets a compaction pass over pages that are in memory. */
    public interface Eviction {

        /** Takes the memory of the log below a page's address. @return false if the log cannot be written */
        boolean evict(long address);
    }

    private static final long NAP_NANOS = 50_000;

    private final StoreContext parts;
    private final Runnable passed;
    private final RecordLayout layout;
    private final LogAddresses marks;

    private int failure;
    private long givenBack;
    private long copies;

    /**
     * @param passed is called each time the log's beginning has moved behind a page
     * @param copies where in pages that are numbered from 0 the first copy is stored, in bytes
     */
    public Compactor(StoreContext parts, Runnable passed, long copies) {
        this.parts = parts;
        this.passed = passed;
        this.copies = copies;
        this.layout = parts.log().layout;
        this.marks = parts.log().marks;
    }

    /**
     * Compacts; one call at a time. It ends early before a page whose copies may find no room
     * ({@link HybridLog#hasSpare}): the copies of one page's records open one new page at most.
     *
     * @param mover a session that only this call uses
     * @param until the highest address at which the log may begin afterwards; only whole pages are given back
     * @param eviction takes the memory of pages below {@code until}; null if only pages are given back that are not in
     *     memory
     * @throws StoreException if the device fails, or has lost a part of the log; the page that failed stays in the log
     */
    public void run(Mover mover, long until, @Nullable Eviction eviction) {
        HybridLog log = parts.log();
        long most = eviction == null ? marks.head() : log.startOf(log.page(log.tail()));
        long end = log.startOf(log.page(Math.min(until, most)));
        Device device = parts.device();
        try (CloseStack resources = new CloseStack()) {
            SharedMemory memory = resources.add(SharedMemory.allocate("farheap-store-compaction", log.pageBytes()));
            DeviceMemory registered = resources.add(device.register(memory.segment()));
            BlockingDeviceHandle call = new BlockingDeviceHandle(resources.add(device.open()));
            for (long page = log.page(marks.begin()); log.startOf(page) < end && log.hasSpare(); page++) {
                long next = log.startOf(page + 1);
                if (eviction != null && next > marks.head() && !eviction.evict(next)) {
                    break;
                }
                long first = parts.gaps().endOf(Math.max(log.startOf(page), marks.begin()));
                // The device may never have had the bytes of a gap.
                if (first < next) {
                    read(call, registered, log.startOf(page));
                    move(mover, memory, first, next);
                    mover.drain();
                }
                if (failure != 0) {
                    throw new StoreException("the log could not be compacted: " + StoreStatus.describe(failure));
                }
                givenBack += next - marks.begin();
                begin(next);
                passed.run();
            }
        }
    }

    /** How many bytes of the log it has given back. */
    public long givenBack() {
        return givenBack;
    }

    /**
     * Where the last copy ends, in pages that have these copies alone, in bytes from the start of page 0. Pages of the
     * log may have records of other sessions between.
     */
    public long copies() {
        return copies;
    }

    private void read(BlockingDeviceHandle call, DeviceMemory into, long page) {
        int status = call.read(page, into, 0, parts.log().pageBytes());
        if (status != IoStatus.OK) {
            throw new StoreException("the log could not be compacted: " + IoStatus.describe(status, parts.device()));
        }
    }

    private void move(Mover mover, SharedMemory memory, long from, long to) {
        long base = memory.segment().address() - (to - parts.log().pageBytes());
        for (long address = from; address + RecordLayout.LEAST_RECORD <= to; ) {
            long record = base + address;
            long header = NativeWords.get(record);
            long gapEnd = parts.gaps().endOf(address);
            if (gapEnd > address) {
                address = gapEnd;
                continue;
            }
            if (header == 0) {
                return;
            }
            if ((header & (StoreRecord.INVALID | StoreRecord.DELETED)) == 0
                    && parts.gaps().counts(address, header)) {
                moveRecord(mover, memory, record, address);
            }
            address += layout.recordBytes(record);
        }
    }

    private void moveRecord(Mover mover, SharedMemory memory, long record, long address) {
        long bytes = layout.recordBytes(record);
        StoreCompletion completion = (token, status, read) -> moved(bytes, status);
        int outcome;
        // It is also FULL while a checkpoint lets no session change anything; if pages lack, it is NO_SPACE.
        while ((outcome = mover.move(memory.segment(), record, address, completion)) == StoreStatus.FULL) {
            if (!mover.poll()) {
                Uninterruptibles.parkNanos(this, NAP_NANOS);
            }
        }
        if (outcome != StoreStatus.PENDING) {
            moved(bytes, outcome);
        }
    }

    private void moved(long bytes, int status) {
        if (status == StoreStatus.DONE) {
            long page = parts.log().pageBytes();
            long room = -copies & page - 1;
            copies += bytes > room ? room + bytes : bytes;
        } else if (status != StoreStatus.NOT_FOUND) {
            failure = status;
        }
    }

    /**
     * Moves the log's beginning. A session that has read an entry before the copies were published would take a moved
     * record for absent, so these sessions leave their epochs first. Afterwards every session finds the copies; a
     * session whose read of the device is under way below the new beginning begins again at the index if the device no
     * longer has the record.
     */
    private void begin(long address) {
        parts.epochs().awaitAll();
        marks.begin(address);
        parts.epochs().awaitAll();
    }
}
