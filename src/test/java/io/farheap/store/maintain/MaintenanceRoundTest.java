package io.farheap.store.maintain;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.contract.StoreException;
import io.farheap.store.log.HybridLog;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** When a store whose log has no room compacts it, what it finds, and what it does beside: without threads. */
class MaintenanceRoundTest {

    private static final long PAGE = 4096;
    private static final long PAGES = 64;
    private static final long MILLI = 1_000_000;
    /** The pause after a round that did not reach its end, and a little. */
    private static final long SHORT_PAUSE = 161 * MILLI;

    private final FullLog log = new FullLog();
    private final List<Throwable> told = new ArrayList<>();
    private long now = -1;

    private Maintenance maintenance(Duration every) {
        return new Maintenance("test", log, PAGES * PAGE, true, every, told::add, () -> now);
    }

    private Maintenance maintenance() {
        return maintenance(Duration.ofDays(1));
    }

    /**
     * A quarter of the log is dead, in few records among very many, and operations take each page as soon as it comes
     * back.
     */
    @Test
    void whatOperationsTakeInARoundIsGained() {
        log.copied = 48;
        log.takenAtOnce = true;
        maintenance().look();
        assertEquals(List.of(true), log.verdicts);
        assertTrue(told.isEmpty());
    }

    @Test
    void aRoundOverLiveRecordsGainsNothing() {
        log.copied = 64;
        Maintenance maintenance = maintenance();
        maintenance.look();
        assertEquals(List.of(false), log.verdicts);
        assertTrue(told.getFirst().getMessage().contains("delete keys"), () -> told.toString());
        // Nothing has changed.
        now += Duration.ofDays(1).toNanos() - 1;
        maintenance.look();
        assertEquals(1, log.verdicts.size());
    }

    /** A whole round is followed by a pause, also after a delete. */
    @Test
    void aWholeRoundIsFollowedByAPause() {
        log.copied = 64;
        log.takes = 1000 * MILLI;
        Maintenance maintenance = maintenance();
        maintenance.look();
        log.full = false;
        now += 7999 * MILLI;
        maintenance.look();
        assertEquals(1, log.verdicts.size());
        assertTrue(log.full, "operations wait for a round that is not due");
        now += 2 * MILLI;
        maintenance.look();
        assertEquals(2, log.verdicts.size());
    }

    /** A round has waited for 10 s for a scan, and ends without a look at the log: the pause is no multiple of that. */
    @Test
    void aRoundThatWaitedIsRepeatedSoon() {
        log.takes = 10_000 * MILLI;
        log.refusal = new StoreException("a scan");
        Maintenance maintenance = maintenance();
        maintenance.look();
        assertEquals(List.of(log.refusal), told);
        assertEquals(List.of(false), log.verdicts);
        log.refusal = null;
        log.takes = 0;
        log.copied = 48;
        now += SHORT_PAUSE;
        maintenance.look();
        assertEquals(List.of(false, true), log.verdicts);
        assertNull(maintenance.failure());
    }

    /** The same if the device refuses writes: the compaction ends early. */
    @Test
    void aRoundThatEndsEarlyIsRepeatedSoonAndToldOnce() {
        log.takes = 10_000 * MILLI;
        log.moves = false;
        Maintenance maintenance = maintenance();
        for (int i = 0; i < 3; i++) {
            maintenance.look();
            assertEquals(i + 1, log.verdicts.size());
            assertEquals(1, told.size());
            now += SHORT_PAUSE;
        }
        assertTrue(told.getFirst().getMessage().contains("delete keys"), () -> told.toString());
    }

    @Test
    void aReserveThatIsUsedUpIsTold() {
        log.moves = false;
        log.spare = false;
        maintenance().look();
        assertTrue(told.getFirst().getMessage().contains("the reserve for compactions is used up"), told::toString);
    }

    /** Rounds fail all the time. */
    @Test
    void checkpointsAreTakenInTimeAlthoughThereIsNoRoom() {
        log.refusal = new StoreException("a scan");
        Maintenance maintenance = maintenance(Duration.ofSeconds(1));
        for (int i = 0; i < 50; i++) {
            now += 200 * MILLI;
            maintenance.look();
        }
        assertEquals(10, log.checkpoints);
        assertEquals(50, log.verdicts.size());
        assertEquals(log.refusal, maintenance.failure());
    }

    /** A page cannot be read: each round fails at once, and so does the next one. */
    @Test
    void roundsThatFailAtOnceAreApartAndToldOnce() {
        log.refusal = new StoreException("a page");
        Maintenance maintenance = maintenance();
        for (int i = 0; i < 100; i++) {
            maintenance.look();
            now += MILLI;
        }
        assertEquals(5, log.verdicts.size());
        assertEquals(List.of(log.refusal), told);
    }

    /** Few large pages: a sixteenth of the log is less than one. */
    @Test
    void aLogOfFewLargePagesIsCompacted() {
        log.pageBytes = 2 << 20;
        log.room = 8 * log.pageBytes;
        log.tail = log.room;
        new Maintenance("test", log, log.room, true, Duration.ofDays(1), told::add, () -> now).look();
        assertEquals(List.of(true), log.verdicts);
        assertTrue(told.isEmpty());
    }

    /** The device cannot free what checkpoints do not need any more: further ones help nothing. */
    @Test
    void checkpointsThatFreeNothingAreNotRepeated() {
        log.held = true;
        log.parts = 8;
        log.copied = 64;
        maintenance().look();
        assertEquals(2, log.checkpoints);
        assertEquals(List.of(false), log.verdicts);
    }

    /** A log without room for operations. */
    private final class FullLog implements Maintenance.MaintenanceTarget {

        private long begin;
        private long kept;
        private long tail = PAGES * PAGE;
        private long pageBytes = PAGE;
        private long room = PAGES * PAGE;
        private boolean full;
        private int checkpoints;
        private final List<Boolean> verdicts = new ArrayList<>();

        /** How many pages are in the log's copies. */
        private long copied;
        /** In how many calls all of the log is compacted. */
        private int parts = 1;
        /** Whether operations take the room that a compaction makes while it is under way. */
        private boolean takenAtOnce;
        /** Whether a compaction gives anything back. */
        private boolean moves = true;

        private boolean spare = true;
        private boolean held;
        /** How long a compaction takes. */
        private long takes;

        private @Nullable StoreException refusal;

        @Override
        public long spaceBytes() {
            return tail - kept;
        }

        @Override
        public long logBytes() {
            return tail - begin;
        }

        @Override
        public long begin() {
            return begin;
        }

        @Override
        public long kept() {
            return kept;
        }

        @Override
        public long roundEnd() {
            return tail;
        }

        @Override
        public long unitStart(long address) {
            return address / pageBytes * pageBytes;
        }

        @Override
        public long roomBytes() {
            return Math.max(0, room - spaceBytes());
        }

        @Override
        public boolean atCapacity(int kind) {
            return kind == HybridLog.OPERATION && roomBytes() == 0;
        }

        @Override
        public boolean isFull(int kind) {
            return full && atCapacity(kind);
        }

        @Override
        public void seekRoom() {
            full = false;
        }

        @Override
        public void soughtRoom(boolean gained, long seen) {
            verdicts.add(gained);
            full = !gained && seen == kept;
        }

        @Override
        public long pageBytes() {
            return pageBytes;
        }

        @Override
        public void stayFull() {
            full = true;
        }

        @Override
        public long compact(long bytes, boolean evicts, long copies) {
            assertTrue(evicts);
            now += takes;
            if (refusal != null) {
                throw refusal;
            }
            if (!moves) {
                return copies;
            }
            long given = unitStart(Math.min(bytes, PAGES / parts * pageBytes));
            begin += given;
            kept = held ? kept : begin;
            long made = copied / parts * PAGE;
            tail += takenAtOnce ? given : made;
            return copies + made;
        }

        @Override
        public boolean hasSpare() {
            return spare;
        }

        @Override
        public boolean isHeld() {
            return held && kept < begin;
        }

        @Override
        public boolean makesCheckpoints() {
            return true;
        }

        @Override
        public void checkpoint() {
            assertFalse(checkpoints > 1000);
            checkpoints++;
        }
    }
}
