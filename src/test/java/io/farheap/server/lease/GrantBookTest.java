package io.farheap.server.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.CacheGrant;
import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.control.ManagerKey;
import io.farheap.control.SignedGrant;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class GrantBookTest {

    private static final long SERVER = 11;
    private static final long CACHE = 7;
    private static final long START_MILLIS = 1_000_000;
    private static final long VALID_MILLIS = 1_000;
    private static final int BOTH = CacheGrant.READ | CacheGrant.WRITE;

    private final AtomicLong nanos = new AtomicLong(5);
    private final AtomicInteger held = new AtomicInteger();
    private GrantBook book;
    private KeyPair keys;

    @BeforeEach
    void start() throws NoSuchAlgorithmException {
        keys = newKeys();
        book = new GrantBook(SERVER, nanos::get);
        learn(3);
    }

    private static KeyPair newKeys() throws NoSuchAlgorithmException {
        return KeyPairGenerator.getInstance(SignedGrant.ALGORITHM).generateKeyPair();
    }

    private void learn(long epoch) {
        book.learn(ManagerKey.of(epoch, keys.getPublic().getEncoded(), START_MILLIS));
    }

    private static CacheGrant grant(int regions, long epoch, long generation) {
        return new CacheGrant(CACHE, SERVER, regions, BOTH, START_MILLIS + VALID_MILLIS, epoch, generation);
    }

    private SignedGrant signed(CacheGrant grant) {
        return SignedGrant.sign(grant, keys.getPrivate());
    }

    private void show(SignedGrant grant) {
        book.show(CACHE, grant, () -> held.get() > 0 ? Set.of(CACHE) : Set.of());
    }

    private void refused(String why, Runnable action) {
        ControlException refused = assertThrows(ControlException.class, action::run);
        assertEquals(Code.GRANT_REFUSED, refused.code());
        assertTrue(refused.getMessage().contains(why), refused::getMessage);
    }

    private int take(int regions) {
        return book.give(CACHE, regions, held::get, () -> held.addAndGet(regions));
    }

    @Test
    void aCacheHasWhatItWasGranted() {
        show(signed(grant(3, 3, 1)));
        take(2);
        show(signed(grant(3, 3, 1)));
        take(1);
        refused("has 3 here and was granted 3", () -> take(1));
        held.addAndGet(-1);
        take(1);
    }

    @Test
    void everyAlteredByteIsRefused() {
        byte[] right = signed(grant(3, 3, 1)).bytes();
        for (int at = 0; at < right.length; at++) {
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                byte[] wrong = right.clone();
                wrong[at] ^= (byte) (1 << bit);
                refused("", () -> show(SignedGrant.of(wrong)));
            }
        }
        for (int length = 0; length < right.length; length++) {
            byte[] wrong = Arrays.copyOf(right, length);
            refused("", () -> show(SignedGrant.of(wrong)));
        }
        refused("", () -> show(SignedGrant.of(Arrays.copyOf(right, right.length + 1))));
        refused("no grant has been shown", () -> take(1));
        show(SignedGrant.of(right));
    }

    @Test
    void whatIsMissingOrUnsignedIsRefused() throws NoSuchAlgorithmException {
        refused("serves that manager's caches alone", () -> show(SignedGrant.NONE));
        refused("no manager has signed", () -> show(SignedGrant.unsigned(grant(3, 3, 1))));
        KeyPair others = newKeys();
        refused("no manager has signed", () -> show(SignedGrant.sign(grant(3, 3, 1), others.getPrivate())));
        assertThrows(IllegalArgumentException.class, () -> SignedGrant.of(new byte[SignedGrant.MAX_BYTES + 1]));
    }

    @Test
    void whatIsForAnotherServerCacheOrUseIsRefused() {
        long until = START_MILLIS + VALID_MILLIS;
        refused("another server", () -> show(signed(new CacheGrant(CACHE, SERVER + 1, 3, BOTH, until, 3, 1))));
        refused("another cache", () -> show(signed(new CacheGrant(CACHE + 1, SERVER, 3, BOTH, until, 3, 1))));
        refused("reads and writes", () -> show(signed(new CacheGrant(CACHE, SERVER, 3, CacheGrant.READ, until, 3, 1))));
    }

    @Test
    void anotherIncarnationRefusesIt() {
        SignedGrant before = signed(grant(3, 3, 1));
        show(before);
        book = new GrantBook(SERVER + 1, nanos::get);
        learn(3);
        refused("an earlier one at this address", () -> show(before));
    }

    @Test
    void whatIsOverIsRefusedAndWhatWasShownLivesOn() {
        SignedGrant grant = signed(grant(3, 3, 1));
        show(grant);
        take(1);
        nanos.addAndGet(VALID_MILLIS * 1_000_000 - 1);
        show(grant);
        nanos.incrementAndGet();
        refused("the grant expired", () -> show(grant));
        take(2);
        // The manager's clock is set back, or its message is late.
        learn(3);
        refused("the grant expired", () -> show(grant));
    }

    /** The server gains a second an hour: without following, it would be ahead for ever, and each grant expired. */
    @Test
    void aManagersClockThatIsSlowerThanTheServersIsFollowed() {
        long millis = START_MILLIS;
        for (int hour = 0; hour < 1_000; hour++) {
            nanos.addAndGet(3_600_000L * 1_000_000);
            millis += 3_599_000;
            book.learn(ManagerKey.of(3, keys.getPublic().getEncoded(), millis));
        }
        long until = millis + 2 * VALID_MILLIS;
        show(signed(new CacheGrant(CACHE, SERVER, 3, BOTH, until, 3, 1)));
        take(1);
    }

    @Test
    void theHighestEpochCounts() throws NoSuchAlgorithmException {
        SignedGrant old = signed(grant(3, 3, 1));
        KeyPair before = keys;
        refused("this server knows only epoch 3 so far", () -> show(signed(grant(3, 4, 1))));
        keys = newKeys();
        learn(4);
        refused("epoch 3", () -> show(old));
        show(signed(grant(2, 4, 1)));
        // The earlier manager sends its key again.
        book.learn(ManagerKey.of(3, before.getPublic().getEncoded(), START_MILLIS));
        refused("epoch 3", () -> show(old));
        // A second key of the same epoch is not taken, either.
        KeyPair other = newKeys();
        book.learn(ManagerKey.of(4, other.getPublic().getEncoded(), START_MILLIS));
        refused("no manager has signed", () -> show(SignedGrant.sign(grant(3, 4, 2), other.getPrivate())));
    }

    @Test
    void theLatestGrantOfACacheCounts() {
        SignedGrant large = signed(grant(5, 3, 1));
        show(large);
        show(signed(grant(2, 3, 2)));
        show(large);
        take(2);
        refused("was granted 2", () -> take(1));
        show(signed(grant(4, 3, 3)));
        take(2);
        learn(4);
        show(signed(grant(1, 4, 0)));
        refused("was granted 1", () -> take(1));
        refused("was granted 1", () -> take(Integer.MAX_VALUE));
    }

    /** A superseded grant must not count again when the book forgets the grant that superseded it. */
    @Test
    void whatWasSupersededIsNotRevivedByForgetting() {
        SignedGrant longer = signed(new CacheGrant(CACHE, SERVER, 5, BOTH, START_MILLIS + 2 * VALID_MILLIS, 3, 1));
        show(longer);
        show(signed(grant(2, 3, 2)));
        nanos.addAndGet(VALID_MILLIS * 1_000_000);
        CacheGrant another = new CacheGrant(CACHE + 1, SERVER, 1, BOTH, START_MILLIS + 2 * VALID_MILLIS, 3, 1);
        book.show(CACHE + 1, signed(another), Set::of);
        show(longer);
        refused("was granted 2", () -> take(3));
    }

    @Test
    void whatWasGrantedToACacheThatHasEndedIsWorthNothing() {
        SignedGrant shown = signed(grant(3, 3, 1));
        SignedGrant later = signed(grant(3, 3, 2));
        show(shown);
        take(1);
        book.end(Set.of(CACHE));
        refused("its lifetime had passed", () -> show(shown));
        refused("its lifetime had passed", () -> show(later));
        refused("no grant has been shown", () -> take(1));
        assertEquals(Set.of(CACHE), book.ended());
        // A new epoch, and caches that the manager ends later, do not change that.
        learn(4);
        nanos.addAndGet(CacheGrant.MOST_MILLIS * 1_000_000);
        book.end(Set.of(CACHE + 1));
        assertEquals(Set.of(CACHE, CACHE + 1), book.ended());
        nanos.addAndGet(2 * CacheGrant.MOST_MILLIS * 1_000_000);
        book.end(Set.of(CACHE + 2));
        assertEquals(Set.of(CACHE + 2), book.ended(), "nobody can show what was granted so long ago");
    }

    @Test
    void beforeAManagerIsHeardNothingIsGranted() {
        book = new GrantBook(SERVER, nanos::get);
        refused("does not know its cache manager", () -> show(signed(grant(3, 3, 1))));
    }

    @Test
    void manyAtOnceGetNoMore() throws InterruptedException {
        int regions = 50;
        show(signed(grant(regions, 3, 1)));
        AtomicInteger refusals = new AtomicInteger();
        CountDownLatch begin = new CountDownLatch(1);
        Thread[] threads = new Thread[8];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofPlatform().start(() -> {
                try {
                    begin.await();
                } catch (InterruptedException e) {
                    return;
                }
                for (int j = 0; j < regions; j++) {
                    try {
                        take(1);
                    } catch (ControlException e) {
                        refusals.incrementAndGet();
                    }
                }
            });
        }
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(regions, held.get());
        assertEquals(threads.length * regions - regions, refusals.get());
    }
}
