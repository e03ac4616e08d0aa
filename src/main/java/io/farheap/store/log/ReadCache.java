package io.farheap.store.log;

import io.farheap.memory.NativeMemory;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.RecordChains;
import io.farheap.store.index.RecordCopies;
import io.farheap.tier.device.Device;
import java.lang.foreign.MemorySegment;

/**
 * Copies in memory of records that were read from the device: a log of its own that is never written anywhere, whose
 * pages are used again, oldest first. An entry of the index may point to such a copy, which bit 47 of the address says;
 * the copy's header has the address that the entry had before. There is one in front of a chain at most, so whoever
 * changes the entry drops it. Of a page that is used again, copies that were read since they were made are made anew,
 * at the tail (second chance); the others leave their entries.
 *
 * <p>A page's memory is used again in steps of the log's thread: whoever may still be writing into it has left; entries
 * point to nothing of it; whoever may still be reading it has left.
 */
public final class ReadCache implements RecordCopies, AutoCloseable {

    private static final int AHEAD = 2;
    /** In a copy's header: it was read. */
    private static final long READ = StoreRecord.SEALED;

    private final PageFrames frames;
    private final HybridLog log;
    private final HashIndex index;
    private final RecordLayout layout;
    private final Epochs epochs;
    private final int epoch;
    // The log thread's.
    private final OperationKey key;
    private final RecordChains chains;
    private long firstPage;
    private long leaving;
    private boolean unlinked;

    /** @param main the store's log */
    public ReadCache(HybridLog main, HashIndex index, int pages) {
        this.frames = new PageFrames(null, main.frames.pageBits, pages);
        this.layout = main.layout;
        this.epochs = main.epochs;
        this.log = new HybridLog(frames, epochs, layout, HybridLog.FIRST, Device.MAX_ADDRESS);
        this.index = index;
        this.epoch = epochs.take();
        this.key = new OperationKey(layout);
        this.chains = new MemoryChains(main, this);
        giveMemory();
    }

    /** The memory of a copy. */
    public long memoryOf(long address) {
        return frames.memoryOf(address & ~MARK);
    }

    @Override
    public long behind(long address) {
        return StoreRecord.previous(NativeWords.getAcquire(memoryOf(address)));
    }

    /** All copies, as updates see values. */
    public MemorySegment segment() {
        return frames.segment();
    }

    /** A copy was of use. */
    public static void wasRead(long copy) {
        long header = NativeWords.getOpaque(copy);
        if ((header & READ) == 0) {
            // A store that is lost to another's of the same kind; nobody else changes a header but the log's thread,
            // of copies that no entry points to any more.
            NativeWords.setOpaque(copy, header | READ);
        }
    }

    /**
     * Makes a copy of a record, inside an epoch.
     *
     * @param word what the entry has, whose chain begins with {@code first}
     */
    public void add(long entry, long word, long first, long record) {
        long bytes = layout.recordBytes(record);
        long at = log.allocate(bytes, true);
        if (at < 0) {
            return;
        }
        long copy = frames.memoryOf(at);
        MemorySegment.copy(
                NativeMemory.ALL, record + Long.BYTES, NativeMemory.ALL, copy + Long.BYTES, bytes - Long.BYTES);
        NativeWords.set(copy, StoreRecord.header(first, 0));
        if (!NativeWords.compareAndSet(entry, word, HashIndex.pointing(word, MARK | at))) {
            NativeWords.setOpaque(copy, StoreRecord.header(first, 0) | StoreRecord.INVALID);
        }
    }

    /** A step, by the log's thread. @return how much there was to do */
    int round() {
        int done = giveMemory();
        if (leaving == 0) {
            if (lacksMemory() && frames.free() == 0) {
                leaving = epochs.advance();
                unlinked = false;
                done++;
            }
        } else if (epochs.passed(leaving)) {
            if (unlinked) {
                frames.take(firstPage++);
                leaving = 0;
            } else {
                epochs.enter(epoch);
                unlink(log.startOf(firstPage), log.startOf(firstPage + 1));
                epochs.leave(epoch);
                unlinked = true;
                leaving = epochs.advance();
            }
            done++;
        }
        return done;
    }

    private boolean lacksMemory() {
        return log.ready() < log.page(log.tail()) + AHEAD;
    }

    private int giveMemory() {
        int done = 0;
        while (lacksMemory() && frames.free() > 0) {
            frames.give(log.ready() + 1);
            log.ready(log.ready() + 1);
            done++;
        }
        return done;
    }

    /** Whether it waits for sessions to leave. */
    boolean waits() {
        return leaving != 0;
    }

    private void unlink(long from, long to) {
        long address = Math.max(from, HybridLog.FIRST);
        while (address + RecordLayout.LEAST_RECORD <= to) {
            long copy = frames.memoryOf(address);
            long header = NativeWords.getAcquire(copy);
            if (header == 0) {
                return;
            }
            if ((header & StoreRecord.INVALID) == 0) {
                key.useOf(copy);
                unlink(MARK | address, copy, header);
            }
            address += layout.recordBytes(copy);
        }
    }

    private void unlink(long address, long copy, long header) {
        while (true) {
            long entry = index.find(key.hash, chains);
            long word = entry == 0 ? 0 : NativeWords.getAcquire(entry);
            if (HashIndex.moved(word)) {
                continue;
            }
            if (HashIndex.address(word) != address) {
                return;
            }
            if ((header & READ) != 0) {
                add(entry, word, StoreRecord.previous(header), copy);
                header &= ~READ;
            } else if (NativeWords.compareAndSet(entry, word, HashIndex.pointing(word, StoreRecord.previous(header)))) {
                return;
            }
        }
    }

    @Override
    public void close() {
        epochs.giveBack(epoch);
        frames.close();
    }
}
