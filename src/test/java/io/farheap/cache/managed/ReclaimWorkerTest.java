package io.farheap.cache.managed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.manager.Reclaim;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A cache does what its manager asks, however the manager's earlier requests have ended. */
class ReclaimWorkerTest {

    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private final BlockingQueue<String> done = new LinkedBlockingQueue<>();

    private static Reclaim alert(String server, Reclaim.Reason reason) {
        return new Reclaim(1, 1, reason, server, 1, List.of());
    }

    private void isDone(String what) throws InterruptedException {
        assertEquals(what, done.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
    }

    /** @return a worker whose handler notes each call, and then throws */
    private ReclaimWorker throwing(Runnable thrown) {
        return new ReclaimWorker("test", new ReclaimWorker.ReclaimHandler() {
            @Override
            public boolean tell() {
                done.add("told");
                thrown.run();
                return true;
            }

            @Override
            public void move(Reclaim alert) {
                done.add(alert.server());
                thrown.run();
            }
        });
    }

    @Test
    void aThrowKeepsNothingLaterFromBeingDone() throws InterruptedException {
        List<Runnable> all = List.of(
                () -> {
                    throw new IllegalStateException("injected");
                },
                () -> {
                    throw new OutOfMemoryError("injected");
                });
        for (Runnable thrown : all) {
            ReclaimWorker reclaims = throwing(thrown);
            reclaims.begin();
            for (int i = 0; i < 3; i++) {
                reclaims.add(alert("server" + i, Reclaim.Reason.LEAVES));
                isDone("server" + i);
                reclaims.changed();
                isDone("told");
            }
            assertTrue(reclaims.close());
        }
    }

    /**
     * A change gives way also while the alert is being followed, and to a notice, if they are no older than its plan.
     */
    @Test
    void whatIsFollowedOrAnnouncedIsUrgent() throws InterruptedException {
        BlockingQueue<Boolean> urgent = new LinkedBlockingQueue<>();
        List<ReclaimWorker> itself = new ArrayList<>();
        ReclaimWorker reclaims = new ReclaimWorker("test", new ReclaimWorker.ReclaimHandler() {
            @Override
            public boolean tell() {
                return true;
            }

            @Override
            public void move(Reclaim alert) {
                urgent.add(
                        itself.getFirst().isToLeave(1, "") && !itself.getFirst().isToLeave(2, ""));
            }
        });
        itself.add(reclaims);
        reclaims.begin();
        reclaims.add(alert("one", Reclaim.Reason.LEAVES));
        assertEquals(true, urgent.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
        reclaims.add(alert("two", Reclaim.Reason.CHEAPER));
        assertEquals(false, urgent.poll(PATIENCE_SECONDS, TimeUnit.SECONDS));
        reclaims.announce(alert("three", Reclaim.Reason.LEAVES));
        assertTrue(reclaims.isToLeave(1, ""));
        assertFalse(reclaims.isToLeave(1, "three"));
        assertFalse(reclaims.isToLeave(2, ""));
        reclaims.announce(alert("four", Reclaim.Reason.LEAVES));
        assertTrue(reclaims.isToLeave(1, "four"), "server three leaves, too");
        assertTrue(reclaims.close());
    }

    @Test
    void whatComesBeforeThereIsACacheWaits() throws InterruptedException {
        ReclaimWorker reclaims = throwing(() -> {});
        reclaims.add(alert("one", Reclaim.Reason.CHEAPER));
        reclaims.add(alert("two", Reclaim.Reason.CHEAPER));
        reclaims.add(alert("one", Reclaim.Reason.LEAVES));
        assertTrue(reclaims.isToLeave(1, ""));
        assertNull(done.poll());
        reclaims.begin();
        isDone("two");
        isDone("one");
        assertTrue(reclaims.close());
        reclaims.add(alert("three", Reclaim.Reason.LEAVES));
        assertNull(done.poll());
    }

    /** A report may take as long as the manager does not answer, and the server ends meanwhile. */
    @Test
    void anAlertIsFollowedBeforeAReportThatIsDue() throws InterruptedException {
        ReclaimWorker reclaims = throwing(() -> {});
        reclaims.changed();
        reclaims.add(alert("one", Reclaim.Reason.LEAVES));
        reclaims.add(alert("two", Reclaim.Reason.LEAVES));
        assertNull(done.poll());
        reclaims.begin();
        isDone("one");
        isDone("two");
        isDone("told");
        assertTrue(reclaims.close());
    }

    /** A manager that refuses a report for long must not keep the cache from leaving a server. */
    @Test
    void aReportIsRepeatedUntilItIsAcceptedAndAlertsDoNotWaitForIt() throws InterruptedException {
        BlockingQueue<Boolean> answers = new LinkedBlockingQueue<>();
        ReclaimWorker reclaims = new ReclaimWorker("test", new ReclaimWorker.ReclaimHandler() {
            @Override
            public boolean tell() {
                done.add("told");
                return Boolean.TRUE.equals(answers.poll());
            }

            @Override
            public void move(Reclaim alert) {
                done.add(alert.server());
            }
        });
        reclaims.begin();
        reclaims.changed();
        isDone("told");
        reclaims.add(alert("one", Reclaim.Reason.LEAVES));
        String next = done.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        while ("told".equals(next)) {
            // This thread was slow, and the next report was due before.
            next = done.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
        }
        assertEquals("one", next);
        answers.add(true);
        isDone("told");
        reclaims.changed();
        isDone("told");
        assertTrue(reclaims.close());
    }
}
