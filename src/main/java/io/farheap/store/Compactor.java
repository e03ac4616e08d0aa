package io.farheap.store;

import io.farheap.lifetime.CloseStack;
import io.farheap.memory.SharedMemory;
import io.farheap.thread.Uninterrupted;
import io.farheap.tier.Device;
import io.farheap.tier.DeviceCall;
import io.farheap.tier.DeviceMemory;
import io.farheap.tier.IoStatus;

/**
 * Gives the oldest part of a log back, beside the load: what is the newest of its key there is copied to the tail, then
 * the log begins behind that part. Deleted keys need nothing: all that was older is in the same part, or before it.
 */
final class Compactor {

    private static final long NAP_NANOS = 50_000;

    private final StoreParts parts;
    private final Layout layout;
    private final Marks marks;

    private int failure;
    private long seen;
    private long copied;

    Compactor(StoreParts parts) {
        this.parts = parts;
        this.layout = parts.log().layout;
        this.marks = parts.log().marks;
    }

    /**
     * One at a time.
     *
     * @param session for this alone
     * @param until the log's beginning afterwards, at most; whole pages that are not in memory are given back
     * @return the log's beginning
     * @throws StoreException where the device fails, or has lost a part: the log begins where it was
     */
    long run(StoreSession session, long until) {
        HybridLog log = parts.log();
        long end = log.startOf(log.page(Math.min(until, marks.head())));
        Device device = parts.device();
        try (CloseStack resources = new CloseStack()) {
            SharedMemory memory = resources.add(SharedMemory.allocate("farheap-store-compaction", log.pageBytes()));
            DeviceMemory registered = resources.add(device.register(memory.segment()));
            DeviceCall call = new DeviceCall(resources.add(device.open()));
            for (long page = log.page(marks.begin()); log.startOf(page) < end; page++) {
                long next = log.startOf(page + 1);
                long first = parts.gaps().endOf(Math.max(log.startOf(page), marks.begin()));
                // What a gap covers the device may never have had.
                if (first < next) {
                    read(call, registered, log.startOf(page));
                    move(session, memory, first, next);
                    session.drain();
                }
                if (failure != 0) {
                    throw new StoreException("the log could not be compacted: " + StoreStatus.describe(failure));
                }
                begin(next);
            }
        }
        return marks.begin();
    }

    /** The part of the records that was copied, from 0 to 1. */
    double live() {
        return (double) copied / Math.max(1, seen);
    }

    private void read(DeviceCall call, DeviceMemory into, long page) {
        int status = call.read(page, into, 0, parts.log().pageBytes());
        if (status != IoStatus.OK) {
            throw new StoreException("the log could not be compacted: " + IoStatus.describe(status, parts.device()));
        }
    }

    private void move(StoreSession session, SharedMemory memory, long from, long to) {
        long base = memory.segment().address() - (to - parts.log().pageBytes());
        for (long address = from; address + Layout.LEAST_RECORD <= to; ) {
            long record = base + address;
            long header = Words.get(record);
            long gapEnd = parts.gaps().endOf(address);
            if (gapEnd > address) {
                address = gapEnd;
                continue;
            }
            if (header == 0) {
                return;
            }
            seen++;
            if ((header & (Record.INVALID | Record.DELETED)) == 0
                    && parts.gaps().counts(address, header)) {
                moveRecord(session, memory, record, address);
            }
            address += layout.recordBytes(record);
        }
    }

    private void moveRecord(StoreSession session, SharedMemory memory, long record, long address) {
        int outcome;
        while ((outcome = session.move(memory.segment(), record, address, this::moved)) == StoreStatus.FULL) {
            if (!session.poll()) {
                if (!parts.log().hasSpare()) {
                    break;
                }
                Uninterrupted.parkNanos(this, NAP_NANOS);
            }
        }
        if (outcome != StoreStatus.PENDING) {
            moved(0, outcome, 0);
        }
    }

    private void moved(long token, int status, int bytes) {
        if (status == StoreStatus.DONE) {
            copied++;
        } else if (status != StoreStatus.NOT_FOUND) {
            failure = status;
        }
    }

    /**
     * Behind it everybody finds what was moved; who still reads below starts anew when the device has it no more. Who
     * has an entry of before would take what was moved for gone, so these leave first.
     */
    private void begin(long address) {
        parts.epochs().awaitAll();
        marks.begin(address);
        parts.epochs().awaitAll();
    }
}
