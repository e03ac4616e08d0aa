package io.farheap.resilience.keeper;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.resilience.CodedServers;
import io.farheap.resilience.contract.Resilience;
import io.farheap.resilience.table.ServerErrorCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Servers are judged by the counters of a window and the limits 0.1% and 0.5%. */
class FailureDetectorTest {

    private static final long WINDOW = 500_000_000;

    private final CodedServers servers = new CodedServers(4, 1);
    private final List<ServerErrorCounts> records =
            servers.attached.stream().map(ServerErrorCounts::new).toList();
    private final ServerErrorCounts one = records.get(1);
    private final FailureDetector judge = new FailureDetector(Resilience.failureRecovery(2, 2));
    private long now = 7;

    @AfterEach
    void close() {
        servers.close();
    }

    private FailureDetector.Verdict windowEnds() {
        now += WINDOW;
        Map<ServerErrorCounts, FailureDetector.Verdict> verdicts = judge.windowEnds(records, now);
        for (ServerErrorCounts record : records) {
            if (record != one) {
                assertEquals(FailureDetector.Verdict.STAY, verdicts.get(record));
            }
        }
        return verdicts.get(one);
    }

    private long suspects() {
        return records.stream().filter(record -> record.suspect).count();
    }

    @Test
    void wrongSplitsGiveSlabsUp() {
        one.wrong.add(1);
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertFalse(one.suspect);
        one.wrong.add(2);
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertTrue(one.suspect);
        one.wrong.add(6);
        assertEquals(FailureDetector.Verdict.GIVE_UP, windowEnds());
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertEquals(0, suspects());
        one.asked.add(10_000);
        one.wrong.add(6);
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertFalse(one.suspect);
    }

    @Test
    void connectionsThatFailAgainMoveSlabs() {
        one.failed.add(1000);
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertFalse(one.suspect);
        one.failedAgain.add(2);
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertTrue(one.suspect);
        // Repeated failures count by their number, however many splits were asked for.
        one.asked.add(1_000_000);
        one.failedAgain.add(6);
        assertEquals(FailureDetector.Verdict.MOVE, windowEnds());
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertFalse(one.suspect);
    }

    @Test
    void whatIsAboveTheFirstLimitForLongGoes() {
        int windows = 0;
        FailureDetector.Verdict verdict = FailureDetector.Verdict.STAY;
        while (verdict == FailureDetector.Verdict.STAY) {
            one.failedAgain.add(2);
            verdict = windowEnds();
            windows++;
        }
        assertEquals(FailureDetector.Verdict.MOVE, verdict);
        assertEquals(22, windows);
        windows = 0;
        do {
            one.wrong.add(2);
            verdict = windowEnds();
            windows++;
        } while (verdict != FailureDetector.Verdict.GIVE_UP);
        assertEquals(22, windows);
    }

    @Test
    void aServerThatIsLaterThanOthersIsSuspectAndKeepsItsSlabs() {
        for (int i = 0; i < 100; i++) {
            records.forEach(record -> record.asked.add(10_000));
            records.forEach(record -> record.late.add(1000));
            one.late.add(9000);
            assertEquals(FailureDetector.Verdict.STAY, windowEnds());
            assertEquals(1, suspects());
            assertTrue(one.suspect);
        }
        records.forEach(record -> record.asked.add(10_000));
        one.late.add(100);
        assertEquals(FailureDetector.Verdict.STAY, windowEnds());
        assertEquals(0, suspects());
    }

    @Test
    void onABusyMachineAllAreLateAndNoneIsSuspect() {
        ServerErrorCounts idle = records.getLast();
        for (int i = 0; i < 100; i++) {
            for (ServerErrorCounts record : records) {
                if (record != idle) {
                    record.asked.add(10_000);
                    record.late.add(900 + i);
                }
            }
            one.late.add(500);
            assertEquals(FailureDetector.Verdict.STAY, windowEnds());
            assertEquals(0, suspects());
        }
    }

    @Test
    void whoIsAskedAloneIsNotLaterThanOthers() {
        for (int i = 0; i < 100; i++) {
            records.forEach(record -> record.asked.add(100));
            one.asked.add(10_000);
            one.late.add(1000);
            assertEquals(FailureDetector.Verdict.STAY, windowEnds());
            assertEquals(0, suspects());
        }
    }

    @Test
    void whereAllConnectionsFailItIsTheNetwork() {
        for (int i = 0; i < 100; i++) {
            records.forEach(record -> record.failedAgain.add(8));
            assertEquals(FailureDetector.Verdict.STAY, windowEnds());
            assertEquals(0, suspects());
        }
    }

    /** Their counters do not change any more, and so would make the average look better than it is. */
    @Test
    void serversThatAreGoneAreNotComparedWith() {
        List<ServerErrorCounts> before = new ArrayList<>(records);
        servers.attached.forEach(server -> {
            for (int i = 0; i < 8; i++) {
                before.add(new ServerErrorCounts(server));
            }
        });
        judge.windowEnds(before, now);
        for (int i = 0; i < 30; i++) {
            records.forEach(record -> record.failedAgain.add(8));
            assertEquals(FailureDetector.Verdict.STAY, windowEnds());
            assertEquals(0, suspects());
        }
    }

    @Test
    void doubtMakesSuspectAndNoMore() {
        for (int i = 0; i < 100; i++) {
            one.doubted.add(1000);
            assertEquals(FailureDetector.Verdict.STAY, windowEnds());
            assertTrue(one.suspect);
        }
    }

    @Test
    void onlyAServerThatFailsSoonAgainIsBlamedAndOnceForAllSessions() {
        long second = 1_000_000_000;
        for (int session = 0; session < 8; session++) {
            one.countFailure(second + session);
        }
        assertEquals(0, one.failedAgain.sum());
        one.countFailure(12 * second);
        assertEquals(0, one.failedAgain.sum());
        for (int session = 0; session < 8; session++) {
            one.countFailure(13 * second + session);
        }
        assertEquals(1, one.failedAgain.sum());
        assertEquals(17, one.failed.sum());
    }
}
