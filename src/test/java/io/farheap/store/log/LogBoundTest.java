package io.farheap.store.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.format.RecordLayout;
import io.farheap.tier.MemoryDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LogBoundTest {

    private static final int PAGE_BITS = 8;
    private static final int PAGE = 1 << PAGE_BITS;
    private static final int RECORD = 24;
    private static final int PAGES = 32;
    /** The last pages of the three kinds of work are 9, 13 and 19. */
    private static final LogBound BOUND = new LogBound(20, 2, 6, 4);

    private static final int[] LAST = {9, 13, 19};

    private final Epochs epochs = new Epochs();
    private final PageFrames frames = new PageFrames(null, PAGE_BITS, PAGES);
    private final int place = epochs.take();

    @AfterEach
    void close() {
        frames.close();
    }

    private HybridLog log(long first) {
        HybridLog log = new HybridLog(frames, epochs, RecordLayout.COMPACT, first, BOUND, 0);
        for (long page = first / PAGE; page < 20; page++) {
            frames.give(page);
            log.ready(page);
        }
        return log;
    }

    /** @return the page of the last record of a kind that finds room */
    private static long fill(HybridLog log, int kind) {
        long last = -1;
        long at;
        while ((at = log.allocate(RECORD, kind)) >= 0) {
            last = at / PAGE;
        }
        return last;
    }

    @Test
    void eachKindHasItsPart() {
        HybridLog log = log(HybridLog.FIRST);
        for (int kind = HybridLog.OPERATION; kind <= HybridLog.COMPACTION; kind++) {
            long last = fill(log, kind);
            for (int i = 0; i < 20; i++) {
                log.open();
                last = Math.max(last, fill(log, kind));
            }
            assertEquals(LAST[kind], last);
            assertTrue(log.atCapacity(kind));
        }
        assertFalse(log.hasSpare());
        assertEquals(-1, log.allocate(RECORD, HybridLog.OPERATION));
        // A page is given back, which is a half of a unit; then the other one.
        log.kept(PAGE);
        log.open();
        assertEquals(-1, log.allocate(RECORD, HybridLog.COMPACTION));
        assertEquals(0, log.roomBytes());
        assertTrue(log.spaceBytes() <= 20 * PAGE, log.spaceBytes() + " bytes");
    }

    /**
     * A long record of a delete does not fit into the last page for deletes, and leaves its room to shorter ones; a
     * compaction then takes it.
     */
    @Test
    void aLongRecordTakesNoRoomFromShorterOnesOfItsKind() {
        HybridLog log = log(HybridLog.FIRST);
        while (log.page(log.tail()) < LAST[1]) {
            log.open();
            fill(log, HybridLog.OPERATION);
            log.allocate(RECORD, HybridLog.DELETE);
        }
        log.open();
        assertEquals(-1, log.allocate(PAGE - 8, HybridLog.DELETE));
        assertEquals(LAST[1], log.allocate(RECORD, HybridLog.DELETE) / PAGE);
        assertEquals(-1, log.allocate(PAGE - 8, HybridLog.COMPACTION));
        assertEquals(-1, log.allocate(RECORD, HybridLog.DELETE));
    }

    /** Another thread's checkpoint gives a unit back after a round has looked, and operations take it at once. */
    @Test
    void aVerdictIsOfTheRoomThatTheRoundHasSeen() {
        HybridLog log = log(HybridLog.FIRST);
        fill(log, HybridLog.OPERATION);
        log.seekRoom();
        assertFalse(log.isFull(HybridLog.OPERATION));
        log.soughtRoom(false, 0);
        assertTrue(log.isFull(HybridLog.OPERATION));
        log.seekRoom();
        log.kept(BOUND.unit() * PAGE);
        log.open();
        assertEquals(LAST[0] + BOUND.unit(), fill(log, HybridLog.OPERATION));
        log.soughtRoom(false, 0);
        assertTrue(log.atCapacity(HybridLog.OPERATION));
        assertFalse(log.isFull(HybridLog.OPERATION));
        log.stayFull();
        assertTrue(log.isFull(HybridLog.OPERATION));
        log.kept(2 * BOUND.unit() * PAGE);
        log.stayFull();
        assertFalse(log.isFull(HybridLog.OPERATION));
    }

    /**
     * A log is opened again and again while its tail is in the reserve, each time at its next page, behind a checkpoint
     * that ended within a page: it still has the pages that the copies of a unit need, and one.
     */
    @Test
    void aFewRestartsLeaveTheReserveOfAUnit() {
        try (MemoryDevice files = new MemoryDevice(16 * PAGE, 512)) {
            LogBound bound = LogBound.of(files, 64 * PAGE, PAGE_BITS);
            int restarts = 4;
            long first = bound.pages() - bound.compactions() + restarts;
            HybridLog log = new HybridLog(frames, epochs, RecordLayout.COMPACT, first * PAGE, bound, 0);
            for (long page = first; page < first + bound.unit() + 1; page++) {
                assertTrue(log.hasSpare(), "page " + page);
                frames.give(page);
                log.ready(page);
                log.open();
                assertEquals(page, fill(log, HybridLog.COMPACTION));
            }
        }
    }

    /** A session that is inside an operation may have seen room in the last page for it. */
    @Test
    void noKindGoesBeyondAPartWhileASessionIsInside() {
        HybridLog log = log(HybridLog.FIRST);
        assertEquals(LAST[0] - 1, pageBefore(log));
        epochs.enter(place);
        assertTrue(log.allocate(RECORD, HybridLog.OPERATION) >= 0);
        while (log.allocate(RECORD, HybridLog.COMPACTION) >= 0) {
            log.open();
        }
        for (int i = 0; i < 3; i++) {
            log.open();
            assertEquals(-1, log.allocate(RECORD, HybridLog.COMPACTION));
        }
        // The session finds the page full that had room.
        assertEquals(-1, log.allocate(RECORD, HybridLog.OPERATION));
        epochs.leave(place);
        log.open();
        log.open();
        assertEquals(LAST[0] + 1, log.allocate(RECORD, HybridLog.COMPACTION) / PAGE);
        assertEquals(-1, log.allocate(RECORD, HybridLog.OPERATION));
    }

    /** Fills all pages but the last one for operations. */
    private static long pageBefore(HybridLog log) {
        long page = 0;
        while (page < LAST[0] - 1 || log.tail() % PAGE + RECORD <= PAGE && log.tail() / PAGE < LAST[0]) {
            page = log.allocate(RECORD, HybridLog.OPERATION) / PAGE;
        }
        return page;
    }

    /** A log that is recovered in the reserve leaves the rest of it to compactions. */
    @Test
    void aLogBeginsWithinItsReserve() {
        HybridLog log = log(15 * PAGE);
        assertEquals(-1, log.allocate(RECORD, HybridLog.OPERATION));
        assertEquals(-1, log.allocate(RECORD, HybridLog.DELETE));
        assertEquals(15, log.allocate(RECORD, HybridLog.COMPACTION) / PAGE);
        log.kept(4 * PAGE);
        log.open();
        assertEquals(-1, log.allocate(RECORD, HybridLog.OPERATION));
        log.open();
        assertEquals(15, log.allocate(RECORD, HybridLog.DELETE) / PAGE);
        log.kept(8 * PAGE);
        log.open();
        assertEquals(15, log.allocate(RECORD, HybridLog.OPERATION) / PAGE);
    }

    @Test
    void noThreadOvershoots() throws Exception {
        HybridLog log = log(HybridLog.FIRST);
        AtomicBoolean stop = new AtomicBoolean();
        List<Future<Long>> ends = new ArrayList<>();
        int[] kinds = {HybridLog.OPERATION, HybridLog.OPERATION, HybridLog.DELETE, HybridLog.COMPACTION};
        try (ExecutorService threads = Executors.newFixedThreadPool(kinds.length)) {
            for (int kind : kinds) {
                int own = epochs.take();
                ends.add(threads.submit(() -> {
                    long last = -1;
                    while (!stop.get()) {
                        epochs.enter(own);
                        last = Math.max(last, log.allocate(RECORD, kind) / PAGE);
                        epochs.leave(own);
                    }
                    return last;
                }));
            }
            while (log.hasSpare()) {
                log.open();
            }
            stop.set(true);
            for (int i = 0; i < kinds.length; i++) {
                long last = ends.get(i).get();
                assertTrue(last <= LAST[kinds[i]], "kind " + kinds[i] + " has page " + last);
            }
        }
    }

    /** The last page of a kind depends on the device: whole segments, unless it drops its oldest part by itself. */
    @Test
    void theReserveHasASegment() {
        try (MemoryDevice files = new MemoryDevice(1 << 16, 512);
                MemoryDevice ring = new MemoryDevice(1 << 16, 512, 32, 1 << 22)) {
            assertFalse(LogBound.of(files, Long.MAX_VALUE, 12).bounded());
            assertEquals(new LogBound(1024, 16, 21, 16), LogBound.of(files, 1 << 22, 12));
            assertEquals(new LogBound(1024, 1, 6, 16), LogBound.of(ring, Long.MAX_VALUE, 12));
            assertEquals(new LogBound(64, 1, 6, 2), LogBound.of(ring, 1 << 18, 12));
        }
    }
}
