package io.farheap.kv.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.format.SlotWord;
import io.farheap.kv.policy.ObjectMetadata;
import io.farheap.memory.PrivateMemory;
import io.farheap.posix.PosixException;
import io.farheap.testing.TestDevice;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PointerCacheTest {

    private static final long ERA = 7;
    private static final int CHANGES = 100_000;
    private static final Duration PATIENCE = Duration.ofMillis(TestDevice.patience(30_000));

    private final PointerCache pointers = new PointerCache(64);
    private final PointerCache.Found found = new PointerCache.Found();
    private final ObjectMetadata object =
            new ObjectMetadata().insertTime(11).lastAccess(12).frequency(13);

    @AfterEach
    void close() {
        pointers.close();
    }

    private static long word(int place) {
        return SlotWord.withPointers(SlotWord.live(place, 3, 5, 2));
    }

    @Test
    void aPointerIsFoundInItsEraAlone() {
        assertFalse(pointers.find(1, ERA, found));
        pointers.keep(1, word(9), 15, false, ERA, object);
        assertTrue(pointers.find(1, ERA, found));
        assertEquals(word(9), found.word());
        assertEquals(15, found.slot());
        assertFalse(found.expires());
        assertFalse(pointers.find(1, ERA + 1, found));
        assertFalse(pointers.find(1, ERA - 1, found));
        assertFalse(pointers.find(2, ERA, found));
        assertTrue(pointers.knows(1));
        pointers.keep(1, word(9), 15, false, ERA + 1, object);
        assertTrue(pointers.find(1, ERA + 1, found));
    }

    @Test
    void whatIsKnownOfAccessesIsKept() {
        pointers.keep(1, word(9), 0, false, ERA, object);
        ObjectMetadata read = new ObjectMetadata();
        assertTrue(pointers.accesses(1, read));
        assertEquals(11, read.insertTime());
        assertEquals(12, read.lastAccess());
        assertEquals(13, read.frequency());
        pointers.noteAccesses(1, read.lastAccess(20));
        pointers.keepNoted(1, word(10), 1, true, ERA);
        assertTrue(pointers.accesses(1, read.lastAccess(0)));
        assertEquals(20, read.lastAccess());
        assertTrue(pointers.find(1, ERA, found));
        assertEquals(word(10), found.word());
        assertTrue(found.expires());
        assertFalse(pointers.accesses(2, read));
    }

    @Test
    void aPointerNamesItsWordInItsEraAlone() {
        pointers.keep(1, word(9), 15, true, ERA, object);
        assertTrue(pointers.names(1, ERA, word(9)));
        assertFalse(pointers.names(1, ERA, word(10)));
        assertFalse(pointers.names(1, ERA + 1, word(9)));
        assertFalse(pointers.names(2, ERA, word(9)));
        pointers.drop(1, word(9));
        assertFalse(pointers.names(1, ERA, word(9)));
        assertFalse(pointers.names(1, ERA, 0));
    }

    @Test
    void aKeyThatWasFoundOnceIsNoPointer() {
        assertFalse(pointers.note(1));
        assertTrue(pointers.note(1));
        assertTrue(pointers.knows(1));
        assertFalse(pointers.find(1, ERA, found));
        assertFalse(pointers.find(1, 0, found));
    }

    @Test
    void aPointerThatLeadNowhereIsNotFoundAgain() {
        pointers.keep(1, word(9), 0, false, ERA, object);
        pointers.drop(1, word(8));
        assertTrue(pointers.find(1, ERA, found), "another word's");
        pointers.drop(1, word(9));
        assertFalse(pointers.find(1, ERA, found));
        assertTrue(pointers.knows(1));
    }

    /** One scan of many keys does not drop those that are used. */
    @Test
    void pointersThatAreUsedStay() {
        for (int hash = 1; hash <= 16; hash++) {
            pointers.keep(hash, word(hash), 0, false, ERA, object);
        }
        SplittableRandom random = new SplittableRandom(1);
        int kept = 0;
        for (int round = 0; round < 100; round++) {
            for (int hash = 1; hash <= 16; hash++) {
                kept += pointers.find(hash, ERA, found) ? 1 : 0;
            }
            pointers.note(random.nextLong());
        }
        assertTrue(kept > 1400, kept + " of 1600");
    }

    @Test
    void pointersThatAreNotUsedMakeRoom() {
        for (int hash = 1; hash <= 64; hash++) {
            pointers.keep(hash, word(hash), 0, false, ERA, object);
        }
        int keys = 0;
        for (int round = 0; round < 10; round++) {
            for (int hash = 1000; hash < 1016; hash++) {
                pointers.note(hash);
            }
        }
        for (int hash = 1000; hash < 1016; hash++) {
            keys += pointers.knows(hash) ? 1 : 0;
        }
        assertTrue(keys > 12, keys + " of 16");
    }

    @Test
    void anObjectThatStaysMarkedIsToBeStoredAgain() {
        pointers.keep(1, word(9), 0, false, ERA, object);
        for (int i = 1; i < 64; i++) {
            assertFalse(pointers.meetsMarked(1, word(9)));
        }
        assertTrue(pointers.meetsMarked(1, word(9)));
        for (int i = 0; i < 200; i++) {
            assertFalse(pointers.meetsMarked(1, word(i % 2)), "the slot changes");
        }
    }

    /** A process that comes later has not known the key before; other keys come meanwhile, and are found once. */
    @Test
    void anObjectThatStaysMarkedIsNotedToo() {
        assertFalse(pointers.meetsMarked(2, word(9)));
        assertTrue(pointers.knows(2));
        SplittableRandom random = new SplittableRandom(1);
        int gets = 1;
        while (!pointers.meetsMarked(2, word(9))) {
            gets++;
            for (int i = 0; i < 20; i++) {
                pointers.note(random.nextLong());
            }
            assertTrue(gets < 200, "it stays marked");
        }
    }

    @Test
    void withoutMemoryNoneAreKept() {
        List<Long> asked = new ArrayList<>();
        LongFunction<PrivateMemory> none = bytes -> {
            asked.add(bytes);
            throw new PosixException("mmap", 12);
        };
        try (PointerCache without = new PointerCache(64, 0, System::nanoTime, none)) {
            assertFalse(without.note(1));
            assertFalse(without.note(1));
            without.keep(1, word(9), 0, false, ERA, object);
            assertFalse(without.find(1, ERA, found));
            assertFalse(without.holdsMemory());
        }
        assertEquals(List.of(64L * PointerCache.ENTRY_BYTES), asked);
    }

    @Test
    void theyCountWhileTheLeasesAreHeld() {
        assertTrue(pointers.areHeld());
        AtomicLong until = new AtomicLong(System.nanoTime());
        pointers.onlyUnder(until::get);
        assertFalse(pointers.areHeld());
        // They have been renewed.
        until.addAndGet(Long.MAX_VALUE / 2);
        assertTrue(pointers.areHeld());
        pointers.stop();
        assertFalse(pointers.areHeld());
    }

    @Test
    void noneAreKeptWithoutRoomOrAfterAStop() {
        try (PointerCache none = new PointerCache(0)) {
            assertEquals(0, none.capacity());
            assertFalse(none.note(1));
            assertFalse(none.note(1));
            none.keep(1, word(9), 0, false, ERA, object);
            assertFalse(none.find(1, ERA, found));
        }
        pointers.keep(1, word(9), 0, false, ERA, object);
        pointers.stop();
        assertFalse(pointers.find(1, ERA, found));
        pointers.keep(1, word(9), 0, false, ERA, object);
        assertFalse(pointers.find(1, ERA, found));
        assertTrue(pointers.holdsMemory(), "a session may be using it");
        pointers.close();
        assertFalse(pointers.holdsMemory());
    }

    @Test
    void thereIsRoomForAsManyAsWereAskedFor() {
        for (int wanted : new int[] {1, 4, 5, 8, 1000, 1 << 18}) {
            try (PointerCache cache = new PointerCache(wanted)) {
                assertTrue(cache.capacity() >= wanted && cache.capacity() < 2L * wanted + 4, wanted + " wanted");
            }
        }
    }

    private static final long UNIT = 1 << 20;
    private static final long MOST_AGE = 100 * UNIT;

    private long now;

    private PointerCache bounded() {
        return new PointerCache(64, MOST_AGE, () -> now);
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -5 * UNIT / 2, Long.MAX_VALUE - 7, Long.MIN_VALUE + 3, 12_345_678_901_234_567L})
    void aPointerCountsForItsTime(long start) {
        now = start;
        try (PointerCache cache = bounded()) {
            long asked = cache.time();
            now += 3 * UNIT;
            cache.keep(1, word(9), 15, false, ERA, asked, object);
            assertTrue(cache.find(1, ERA, found));
            assertEquals(word(9), found.word());
            assertEquals(15, found.slot());
            assertFalse(cache.find(1, ERA + 1, found));
            now = asked + MOST_AGE - 2 * UNIT;
            assertTrue(cache.find(1, ERA, found));
            now = asked + MOST_AGE;
            assertFalse(cache.find(1, ERA, found));
            now = asked + 1000 * MOST_AGE;
            assertFalse(cache.find(1, ERA, found));
        }
    }

    /** A key's entry is another's at the time of the change, and the key's again after it. */
    @Test
    void aChangeEndsThePointerInAnEntryThatAnotherKeyHas() {
        now = 5 * UNIT;
        try (PointerCache cache = new PointerCache(4, MOST_AGE, () -> now)) {
            for (int key = 0; key < 4; key++) {
                cache.keep(key, word(9 + key), 0, false, ERA, cache.time(), object);
            }
            assertFalse(cache.note(5), "all have been used");
            assertFalse(cache.note(5));
            assertTrue(cache.knows(5));
            assertFalse(cache.knows(1), "it takes the entry of this one");
            now += UNIT;
            cache.changed(1, word(20));
            assertFalse(cache.note(1));
            assertTrue(cache.knows(1));
            assertFalse(cache.find(1, ERA, found), "what the process itself has replaced");
        }
    }

    /** Another session has asked before the change, and keeps what it has found after it. */
    @Test
    void whatWasAskedBeforeAChangeIsNotKeptAfterIt() {
        now = 5 * UNIT;
        try (PointerCache cache = bounded()) {
            long asked = cache.time();
            cache.keep(1, word(9), 0, false, ERA, asked, object);
            now += UNIT;
            long own = cache.time();
            cache.keepNoted(1, word(10), 0, false, ERA, own);
            now += UNIT;
            cache.changed(1, word(10));
            assertTrue(cache.find(1, ERA, found));
            assertEquals(word(10), found.word());
            cache.keep(1, word(9), 0, false, ERA, asked, object);
            cache.keep(1, word(9), 0, false, ERA, own, object);
            cache.keepNoted(1, word(9), 0, false, ERA, own);
            assertTrue(cache.find(1, ERA, found));
            assertEquals(word(10), found.word());
            // One that was asked between the change's last operation and its end.
            cache.keep(1, word(9), 0, false, ERA, own + UNIT / 2, object);
            cache.changed(1, SlotWord.EMPTY);
            assertFalse(cache.find(1, ERA, found));
            assertTrue(cache.knows(1));
            now += UNIT;
            cache.keep(1, word(11), 0, false, ERA, cache.time(), object);
            assertTrue(cache.find(1, ERA, found));
            cache.keep(1, word(10), 0, false, ERA, cache.time() - UNIT, object);
            assertTrue(cache.find(1, ERA, found));
            assertEquals(word(11), found.word(), "what was asked earlier may be older");
        }
    }

    /** The change's key needs no entry. */
    @Test
    void whatWasAskedBeforeTheChangeOfAnUnknownKeyIsNotKept() {
        now = -5 * UNIT;
        try (PointerCache cache = bounded()) {
            long asked = cache.time();
            now += UNIT;
            cache.changed(1, word(10));
            cache.keep(1, word(9), 0, false, ERA, asked, object);
            cache.keep(1, word(9), 0, false, ERA, now, object);
            assertFalse(cache.find(1, ERA, found), "what was asked at the same moment of a coarse clock may be older");
            now += 2;
            cache.keep(1, word(10), 0, false, ERA, cache.time(), object);
            assertTrue(cache.find(1, ERA, found));
        }
    }

    /** A get that has asked the slot has found no slot, a value in pieces, or a block that is marked. */
    @Test
    void aGetThatFindsAnotherWordEndsThePointer() {
        now = 5 * UNIT;
        try (PointerCache cache = new PointerCache(4, MOST_AGE, () -> now)) {
            for (int key = 1; key <= 4; key++) {
                cache.keep(key, word(9 + key), 0, false, ERA, cache.time(), object);
            }
            cache.asked(1, word(10));
            assertTrue(cache.find(1, ERA, found));
            cache.asked(1, word(20));
            assertFalse(cache.find(1, ERA, found));
            cache.asked(2, SlotWord.EMPTY);
            assertFalse(cache.find(2, ERA, found));
            assertTrue(cache.find(3, ERA, found));
            now += UNIT;
            cache.keep(1, word(20), 0, false, ERA, cache.time(), object);
            assertTrue(cache.find(1, ERA, found));
        }
        pointers.keep(1, word(9), 0, false, ERA, object);
        pointers.asked(1, SlotWord.EMPTY);
        assertTrue(pointers.find(1, ERA, found), "an exact pointer counts until its block is marked");
    }

    /** A map that is opened again has two caches for some time, and a change ends the pointers of one of them. */
    @Test
    void nothingIsKeptThatWasAskedBesideAnotherCache() {
        now = -3 * UNIT;
        try (PointerCache cache = bounded()) {
            cache.besideAnother();
            long asked = cache.time();
            cache.keep(1, word(9), 0, false, ERA, asked, object);
            assertFalse(cache.find(1, ERA, found));
            now += UNIT;
            cache.isAlone();
            cache.keep(1, word(9), 0, false, ERA, asked, object);
            cache.keep(1, word(9), 0, false, ERA, cache.time(), object);
            assertFalse(cache.find(1, ERA, found));
            now += 2;
            cache.keep(1, word(9), 0, false, ERA, cache.time(), object);
            assertTrue(cache.find(1, ERA, found));
        }
        pointers.besideAnother();
        pointers.keep(1, word(9), 0, false, ERA, object);
        assertTrue(pointers.find(1, ERA, found), "a change marks the block of an exact pointer");
    }

    /** An error in a thread that has the lock of a set, as of a stack that is too deep. */
    @Test
    void aThreadThatFailsLocksNoOtherOut() {
        AtomicBoolean fails = new AtomicBoolean();
        try (PointerCache cache = new PointerCache(4, MOST_AGE, () -> {
            if (fails.get()) {
                throw new StackOverflowError("in a test");
            }
            now += UNIT;
            return now;
        })) {
            fails.set(true);
            assertThrows(StackOverflowError.class, () -> cache.changed(1, word(9)));
            fails.set(false);
            assertTimeoutPreemptively(PATIENCE, () -> cache.changed(1, word(9)));
            long asked = cache.time();
            assertThrows(NullPointerException.class, () -> cache.keep(1, word(9), 0, false, ERA, asked, noObject()));
            assertTimeoutPreemptively(PATIENCE, () -> cache.changed(1, word(9)));
        }
    }

    private static ObjectMetadata noObject() {
        return null;
    }

    /**
     * One thread changes a key, and then finds no word that is older than its change, whatever others keep that have
     * asked before. The words are the times at which they were in the slot.
     */
    @Test
    void noThreadFindsWhatItHasReplaced() throws Exception {
        AtomicLong clock = new AtomicLong(1);
        AtomicLong slot = new AtomicLong();
        int wrong = 0;
        try (PointerCache cache = new PointerCache(4, Long.MAX_VALUE / 2, () -> clock.addAndGet(UNIT))) {
            Thread[] readers = new Thread[2];
            AtomicBoolean over = new AtomicBoolean();
            for (int i = 0; i < readers.length; i++) {
                readers[i] = new Thread(() -> {
                    ObjectMetadata accesses = new ObjectMetadata();
                    for (int n = 0; !over.get(); n++) {
                        long asked = cache.time();
                        long seen = slot.get();
                        cache.keep(1, word((int) seen), 0, false, ERA, asked, accesses);
                        // The entries of the only set change hands.
                        cache.note(2 + n % 8);
                    }
                });
                readers[i].start();
            }
            for (int change = 1; change <= CHANGES; change++) {
                long asked = cache.time();
                slot.set(change);
                cache.keepNoted(1, word(change), 0, false, ERA, asked);
                cache.changed(1, word(change));
                if (cache.find(1, ERA, found)) {
                    wrong += SlotWord.place(found.word()) == change ? 0 : 1;
                }
            }
            over.set(true);
            for (Thread reader : readers) {
                reader.join();
            }
            for (int i = 0; i < 32 && !cache.find(1, ERA, found); i++) {
                cache.keep(1, word(CHANGES), 0, false, ERA, cache.time(), object);
            }
            assertTrue(cache.find(1, ERA, found), "no lock is left");
        }
        assertEquals(0, wrong);
    }

    /** Threads write one entry at the same time: what is found was kept as it is. */
    @Test
    void aTornEntryIsNoPointer() throws Exception {
        AtomicInteger wrong = new AtomicInteger();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                PointerCache.Found mine = new PointerCache.Found();
                ObjectMetadata accesses = new ObjectMetadata();
                for (int n = 0; n < 100_000; n++) {
                    int place = number << 20 | n;
                    pointers.keep(1, word(place), place & 15, false, 1 + place % 1000, accesses);
                    long era = 1 + n % 1000;
                    if (pointers.find(1, era, mine)) {
                        long at = SlotWord.place(mine.word());
                        wrong.addAndGet(1 + at % 1000 == era && (at & 15) == mine.slot() ? 0 : 1);
                    }
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, wrong.get());
    }
}
