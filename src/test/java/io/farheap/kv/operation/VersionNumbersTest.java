package io.farheap.kv.operation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.contract.MapException;
import io.farheap.testing.TestDevice;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class VersionNumbersTest {

    private static final int COUNT_BITS = 28;
    private static final int ASKS = 20_000;

    private final AtomicLong asked = new AtomicLong();

    /** @return the next version that is not {@link VersionNumbers#NONE} */
    private static long await(VersionNumbers versions) {
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        long version = versions.next();
        while (version == VersionNumbers.NONE) {
            assertTrue(System.nanoTime() - deadline < 0, "there is no other number");
            Thread.onSpinWait();
            version = versions.next();
        }
        return version;
    }

    @Test
    void aCountAtItsEndGoesOnUnderAnotherNumber() {
        VersionNumbers versions = new VersionNumbers(7, () -> 10 + asked.incrementAndGet(), 3);
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 30; i++) {
            long version = await(versions);
            assertTrue(seen.add(version), "version " + version + " again");
            assertEquals(i < 3 ? 7 : 10 + i / 3, version >>> COUNT_BITS);
            assertEquals(1 + i % 3, version & (1 << COUNT_BITS) - 1);
        }
    }

    @Test
    void noVersionReturnsWhileThereIsNoOtherNumber() throws InterruptedException {
        CountDownLatch reached = new CountDownLatch(1);
        VersionNumbers versions = new VersionNumbers(
                1,
                () -> {
                    if (asked.incrementAndGet() < 3) {
                        throw new IllegalStateException("the first server does not answer");
                    }
                    try {
                        reached.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                    return 2;
                },
                4);
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 4; i++) {
            assertTrue(seen.add(versions.next()));
        }
        for (int i = 0; i < 100; i++) {
            assertEquals(VersionNumbers.NONE, versions.next());
        }
        reached.countDown();
        assertTrue(seen.add(await(versions)));
    }

    /** A look may find a request for a number that fails during the look. */
    @Test
    void anAnswerThatFailsWhileTheSessionLooksIsNoAnswer() {
        VersionNumbers versions = new VersionNumbers(
                1,
                () -> {
                    asked.incrementAndGet();
                    throw new IllegalStateException("the first server does not answer");
                },
                1);
        assertEquals(1, versions.next() >>> COUNT_BITS);
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        while (asked.get() < ASKS) {
            assertTrue(System.nanoTime() - deadline < 0, "the session does not ask again");
            assertEquals(VersionNumbers.NONE, versions.next());
        }
    }

    @Test
    void aSessionAsksAMapThatHasHadAllNumbersOnce() {
        VersionNumbers versions = new VersionNumbers(
                1,
                () -> {
                    asked.incrementAndGet();
                    return VersionNumbers.MOST_NUMBER + 1;
                },
                1);
        assertEquals(1, versions.next() >>> COUNT_BITS);
        long deadline = System.nanoTime() + TestDevice.patience(20_000_000_000L);
        for (int i = 0; i < ASKS || !versions.exhausted(); i++) {
            assertTrue(System.nanoTime() - deadline < 0, "the session does not learn that there is no number");
            assertEquals(VersionNumbers.NONE, versions.next());
        }
        assertEquals(1, asked.get());
        String message = MapException.of(KvStatus.NO_VERSION).getMessage();
        assertTrue(message.contains("2^36 - 1") && message.contains("create another map"), message);
    }

    @Test
    void aMapThatHasHadAllNumbersRefusesOthers() {
        long last = VersionNumbers.MOST_NUMBER;
        assertEquals(last, VersionNumbers.checked(last));
        long version = new VersionNumbers(last, asked::incrementAndGet).next();
        assertEquals(last, version >>> COUNT_BITS);
        assertThrows(MapException.class, () -> VersionNumbers.checked(last + 1));
        assertThrows(MapException.class, () -> VersionNumbers.checked(0));
    }
}
