package io.farheap.store.log;

import io.farheap.memory.NativeMemory;
import io.farheap.store.format.NativeWords;
import io.farheap.store.format.OperationKey;
import io.farheap.store.format.RecordLayout;
import io.farheap.store.format.StoreRecord;
import io.farheap.store.index.HashIndex;
import io.farheap.store.index.RecordChains;
import io.farheap.store.index.RecordCopies;
import java.lang.foreign.MemorySegment;

/**
 * A read cache: copies in memory of records that were read from the device. It is a log of its own that is not written
 * to a device, and whose pages are used again, oldest first. An entry of the index may point to a copy, which bit 47 of
 * the address says; the copy's header holds the address at which the chain begins in the store's log. A chain has at
 * most one copy, in front, so a session that changes the entry drops the copy by doing so. When a page is to be used
 * again, copies in it that were read since they were made are copied to the tail (second chance); the others are
 * removed from their entries.
 *
 * <p>The log's thread uses a page's memory again in steps. It waits until all sessions that are inside an epoch have
 * left, so that no session writes to the page any more; it changes the entries that point into the page; it waits
 * again, so that no session reads the page any more; then the frame is free.
 */
public final class ReadCache implements RecordCopies, AutoCloseable {

    private static final int AHEAD = 2;
    /** Flag in a copy's header: the copy was read. */
    private static final long READ = StoreRecord.SEALED;

    private final PageFrames frames;
    private final HybridLog log;
    private final HashIndex index;
    private final RecordLayout layout;
    private final Epochs epochs;
    private final int epoch;
    // Used by the log's thread alone.
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
        this.log = new HybridLog(frames, epochs, layout, HybridLog.FIRST);
        this.index = index;
        this.epoch = epochs.take();
        this.key = new OperationKey(layout);
        this.chains = new MemoryChains(main, this);
        giveMemory();
    }

    /** The address in memory of a copy. */
    public long memoryOf(long address) {
        return frames.memoryOf(address & ~MARK);
    }

    @Override
    public long behind(long address) {
        return StoreRecord.previous(NativeWords.getAcquire(memoryOf(address)));
    }

    /** The memory of all copies; {@code Update}s receive values as offsets in it. */
    public MemorySegment segment() {
        return frames.segment();
    }

    /** Marks a copy as read, so that it gets a second chance. */
    public static void wasRead(long copy) {
        long header = NativeWords.getOpaque(copy);
        if ((header & READ) == 0) {
            // Two sessions that store at once store the same word. Otherwise only the log's thread changes a header,
            // and only of copies that no entry points to any more.
            NativeWords.setOpaque(copy, header | READ);
        }
    }

    /**
     * Adds a copy of a record, inside an epoch, if the entry has not changed; does nothing if there is no room.
     *
     * @param word the entry's word as it was read; its chain in the log begins at {@code first}
     */
    public void add(long entry, long word, long first, long record) {
        long bytes = layout.recordBytes(record);
        long at = log.allocate(bytes, HybridLog.OPERATION);
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

    /** One duty cycle; called by the log's thread. @return how much work was done */
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

    /** Whether a page waits for sessions to leave their epoch. */
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
