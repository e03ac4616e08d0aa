package io.farheap.cache.managed;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.contract.CacheException;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.testing.TestDevice;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Room that a manager has reserved for a move lasts as long as the move. */
class RoomRenewalTest {

    private static final long PATIENCE_SECONDS = TestDevice.patience(60);

    private final CountDownLatch renewed = new CountDownLatch(3);
    private final CountDownLatch late = new CountDownLatch(1);

    private static void await(CountDownLatch latch) {
        try {
            assertTrue(latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void roomIsRenewedAgainAndAgain() {
        try (RoomRenewal room = RoomRenewal.start("c", 1, this::renew, late::countDown, () -> false)) {
            await(renewed);
            room.requireTime();
        }
    }

    private void renew() {
        renewed.countDown();
    }

    /** The manager may reserve the room once more after the report that the move has ended. */
    @Test
    void aRequestThatIsUnderWayAtTheEndIsReported() {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        RoomRenewal room = RoomRenewal.start(
                "c",
                1,
                () -> {
                    asked.countDown();
                    await(closed);
                },
                late::countDown,
                () -> false);
        await(asked);
        room.close();
        closed.countDown();
        await(late);
    }

    /** Others may have got the room: what has not moved stays where it is. */
    @Test
    void aMoveEndsIfItsRoomIsNotRenewed() {
        try (RoomRenewal room = RoomRenewal.start("c", 1, this::refuses, late::countDown, () -> false)) {
            String why = "";
            while (why.isEmpty()) {
                try {
                    room.requireTime();
                    Thread.onSpinWait();
                } catch (CacheException e) {
                    why = String.valueOf(e.getMessage());
                }
            }
            assertTrue(why.contains("host2:1 has no room"), why);
            assertEquals(0, renewed.getCount(), "a manager that does not answer is asked again");
        }
    }

    private void refuses() {
        renewed.countDown();
        throw renewed.getCount() > 0
                ? new ControlException(Code.UNAVAILABLE, "no manager answers")
                : new ControlException(Code.OUT_OF_MEMORY, "host2:1 has no room");
    }

    @Test
    void aMoveGivesWayToAServerThatIsAboutToEnd() {
        AtomicBoolean urgent = new AtomicBoolean();
        try (RoomRenewal room = RoomRenewal.start("c", 1, this::renew, late::countDown, urgent::get)) {
            room.requireTime();
            urgent.set(true);
            assertThrows(CacheException.class, room::requireTime);
        }
    }
}
