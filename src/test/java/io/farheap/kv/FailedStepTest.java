package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.blocks.BlockAllocator;
import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.eviction.EvictionSettings;
import io.farheap.kv.format.KeyHash;
import io.farheap.kv.format.MapCalls;
import io.farheap.kv.format.OneBucket;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.SpaceShape;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.keeper.MapServiceClient;
import io.farheap.kv.session.MapRequests;
import io.farheap.kv.space.MapSessionCounts;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.RequestColumns;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.TestDevice;
import io.farheap.testing.Wait;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Requests whose connection fails at a certain operation, while another session does something before they continue. An
 * operation that a device executes without an acknowledgement is executed by the test instead.
 */
@Needs(Need.SOFTVERBS)
class FailedStepTest {

    private static final int LARGE_BYTES = 16_000;
    private static final int SMALL_BYTES = 4000;
    /** After this number of failed connections a request does not wait for another one. */
    private static final int OFTEN = 1000;

    private static final KvHandler NOTHING = (tag, status, found, at, bytes) -> {};

    @AfterEach
    void heal() {
        Softverbs.set("qp_error_after=0");
    }

    /** Keys of different fingerprints. */
    private static List<byte[]> keys(int count) {
        List<byte[]> keys = new ArrayList<>();
        Set<Integer> fingerprints = new HashSet<>();
        for (int number = 0; keys.size() < count; number++) {
            byte[] key = TestKeys.bytes(number);
            if (fingerprints.add(KeyHash.fingerprint(TestKeys.hash(key)))) {
                keys.add(key);
            }
        }
        return keys;
    }

    private static MemorySegment segment(byte[] bytes) {
        return MemorySegment.ofArray(bytes);
    }

    private static byte[] bytes(long word) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(word)
                .array();
    }

    private static void pollUntil(MapSession session, KvHandler handler, BooleanSupplier what) {
        long deadline = System.nanoTime() + TestDevice.patience(30_000_000_000L);
        while (!what.getAsBoolean()) {
            assertTrue(System.nanoTime() - deadline < 0, "it does not come so far");
            if (session.poll(handler) == 0) {
                session.await(100_000);
            }
        }
    }

    /**
     * Lets one operation of a session succeed, which its queue pair counts, so that {@link #failNext} makes the next
     * one fail. At most one operation is under way.
     */
    private static void passOne(MapSession session, byte[] missing) {
        session.poll(NOTHING);
        session.poll(NOTHING);
        Softverbs.set("qp_error_after=1");
        assertNull(session.get(missing));
        Softverbs.set("qp_error_after=0");
        assertEquals(0, session.requests().connections().begun());
    }

    /** Makes the next operation fail of a session that was {@linkplain #passOne let pass one}. */
    private static void failNext(MapSession session, int place) {
        Softverbs.set("qp_error_after=1");
        pollUntil(session, NOTHING, () -> session.requests().operations().failures[place] == 1);
        Softverbs.set("qp_error_after=0");
    }

    private static int await(MapSession session) {
        int[] ended = {-1};
        pollUntil(session, (tag, status, found, at, bytes) -> ended[0] = status, () -> session.inFlight() == 0);
        return ended[0];
    }

    /** @return the places of a session's free blocks, each of which must be there once */
    private static Set<Long> freePlaces(MapSession session) {
        Set<Long> places = new HashSet<>();
        session.requests()
                .allocator()
                .forEachFree(block ->
                        assertTrue(places.add(SlotWord.place(block)), "a block is twice among a session's free ones"));
        return places;
    }

    /** The insertion was executed, and another session has deleted the object and has its block. */
    @Test
    void anInsertionWhoseSlotIsEmptyAgainIsLost() {
        List<byte[]> keys = keys(2);
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            first.set(keys.get(0), new byte[] {1});
            first.delete(keys.get(0));
            passOne(first, keys.get(1));
            assertTrue(first.set(segment(keys.get(0)), segment(new byte[] {2}), 0));
            RequestColumns operations = first.requests().operations();
            int place = operations.first();
            pollUntil(first, NOTHING, () -> SlotWord.isClaim(bucket.word(0)));
            failNext(first, place);
            long block = operations.block[place];
            assertEquals(SlotWord.claim(block), bucket.word(operations.slot[place]));
            bucket.write(operations.slot[place], bytes(block));
            assertArrayEquals(new byte[] {2}, second.get(keys.get(0)));
            assertTrue(second.delete(keys.get(0)));
            assertEquals(KvStatus.LOST, await(first));
            assertNull(first.get(keys.get(0)));
            assertTrue(freePlaces(second).contains(SlotWord.place(block)));
            assertFalse(freePlaces(first).contains(SlotWord.place(block)), "two sessions have it");
            assertTrue(first.requests().allocator().knowsAll(), "it keeps a block that the other session has");
            awaitNoneKept(bucket, first, second);
        }
    }

    /** Waits until the services' account of held blocks has no others than the sessions' free ones. */
    private static void awaitNoneKept(OneBucket bucket, MapSession first, MapSession second) {
        pollUntil(
                first,
                NOTHING,
                () -> bucket.space.map.audit().held()
                        == freePlaces(first).size() + freePlaces(second).size());
        Audit.of(bucket.space, List.of(first, second));
    }

    /** The servers' last account of a map's blocks. No collection begins for it, if there was an audit before. */
    private static MapAudit lastAccount(FarMap map) {
        MapConnection of = Fields.get(map, "now", MapConnection.class);
        MapServiceClient line = of.servers.first().line();
        return of.keeper
                .tasks()
                .ask(
                        line,
                        () -> line.with(1, 1).call(MapCalls.AUDIT, 2) && line.reply(1) != 0
                                ? Optional.of(MapAudit.of(line))
                                : Optional.empty());
    }

    /** Waits until the services have found a block that was let go, without an audit, which would find it too. */
    private static void awaitFound(OneBucket bucket, MapSession session, MapAudit before) {
        pollUntil(session, NOTHING, () -> {
            MapAudit now = lastAccount(bucket.space.map);
            return now.lost() > 0 || now.pooled() > before.pooled();
        });
    }

    /** The update was not executed, and another session has replaced the object, so the slot does not tell. */
    @Test
    void aSetOfUnknownOutcomeCostsNoBlock() {
        byte[] key = keys(1).getFirst();
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            first.set(key, new byte[] {1});
            MapAudit before = bucket.space.map.audit();
            loseASwap(key, first, second);
            awaitFound(bucket, first, before);
            awaitNoneKept(bucket, first, second);
        }
    }

    /** It says so every 5 s at most, and has let a block go since it said so. */
    @Test
    void aProcessThatEndsBeforeItSaysThatItLetBlocksGoCostsNone() {
        byte[] key = keys(1).getFirst();
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE)) {
            FarMap map = bucket.space.map;
            // Without pointers, a set posts its compare-and-swap behind the READ of the bucket.
            try (MapSession first = map.openSession(new PointerCache(0));
                    MapSession second = map.openSession(new PointerCache(0))) {
                first.set(key, new byte[] {1});
                MapAudit before = map.audit();
                loseASwap(key, first, second);
                awaitFound(bucket, first, before);
                first.set(key, new byte[] {1});
                loseASwap(key, first, second);
                // The calls have a connection again.
                assertTrue(lastAccount(map).held() > 0);
            }
            String address = bucket.space.spaces.getFirst().server().address();
            map.close();
            try (FarMap other = FarMap.builder()
                    .name(map.name())
                    .token(TestServers.TOKEN)
                    .device(TestDevice.client())
                    .servers(address)
                    .open()) {
                Wait.until(() -> lastAccount(other).held() <= 0, 20_000_000_000L, "blocks are lost");
            }
        }
    }

    /** A set of a key that is there ends without its outcome, as another session has replaced the object. */
    private static void loseASwap(byte[] key, MapSession first, MapSession second) {
        first.poll(NOTHING);
        first.poll(NOTHING);
        assertTrue(first.set(segment(key), segment(new byte[] {2}), 0));
        RequestColumns operations = first.requests().operations();
        int place = operations.first();
        // The WRITE of the slot's hash is done, and the compare-and-swap is not.
        failNext(first, place);
        long block = operations.block[place];
        second.set(key, new byte[] {3});
        assertEquals(KvStatus.LOST, await(first));
        assertArrayEquals(new byte[] {3}, second.get(key));
        assertFalse(freePlaces(first).contains(SlotWord.place(block)), "a slot might name it");
    }

    /** The slot is empty, but another session may have emptied it. */
    @Test
    void aDeleteOfUnknownOutcomeCostsNoBlock() {
        byte[] key = keys(1).getFirst();
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            first.set(key, new byte[] {1});
            MapAudit before = bucket.space.map.audit();
            first.poll(NOTHING);
            first.poll(NOTHING);
            RequestColumns operations = first.requests().operations();
            int place = operations.first();
            // The READs of the bucket and the block are done, and the compare-and-swap was executed without an
            // acknowledgement.
            Softverbs.set("qp_error_after=2");
            assertTrue(first.delete(segment(key), 0));
            pollUntil(first, NOTHING, () -> operations.failures[place] == 1);
            Softverbs.set("qp_error_after=0");
            bucket.write(operations.slot[place], bytes(SlotWord.EMPTY));
            assertEquals(KvStatus.LOST, await(first));
            assertNull(second.get(key));
            awaitFound(bucket, first, before);
            awaitNoneKept(bucket, first, second);
        }
    }

    /** Another session has stored a larger object meanwhile, so the touch looks for room for a larger block. */
    @Test
    void aTouchThatIsLostWhileItLooksForRoomFreesItsBlockOnce() {
        List<byte[]> keys = keys(17);
        try (TestSpace space = new TestSpace(1, 1, 256 << 10, 100);
                MapSession first = space.map.openSession();
                MapSession second = space.map.openSession()) {
            // The session's segment has so few blocks left that the session keeps them.
            for (int i = 0; i < 10; i++) {
                first.set(keys.get(i), new byte[SMALL_BYTES]);
            }
            for (int i = 10; i < 17; i++) {
                second.set(keys.get(i), new byte[LARGE_BYTES]);
            }
            assertTrue(first.touch(segment(keys.get(0)), 0, 0));
            RequestColumns operations = first.requests().operations();
            int place = operations.first();
            long own = operations.block[place];
            assertTrue(own != BlockAllocator.NONE, "it has written its block");
            second.set(keys.get(0), new byte[LARGE_BYTES]);
            pollUntil(first, NOTHING, () -> operations.block[place] != own);
            assertEquals(BlockAllocator.NONE, operations.block[place], "there is room for all");
            space.stop(0);
            assertEquals(KvStatus.LOST, await(first));
            assertTrue(freePlaces(first).contains(SlotWord.place(own)));
        }
    }

    /** The WRITE may land until its server has fenced it, and that server does not answer. */
    @Test
    void aTouchWhoseObjectIsGoneFreesNoBlockThatItsWriteMayLandIn() {
        try (TestSpace space = new TestSpace(2, 1, 8 << 20, 1000);
                MapSession first = space.map.openSession();
                MapSession second = space.map.openSession()) {
            byte[] near = keyOf(space, 0);
            RequestColumns operations = first.requests().operations();
            int place = operations.first();
            int bytes = 0;
            // Looks for a size of which the session has blocks on the other server.
            do {
                bytes += 200;
                first.set(near, new byte[bytes]);
            } while (space.space.serverOf(operations.block[place]) == 0);
            first.poll(NOTHING);
            first.poll(NOTHING);
            // The number counts for each connection: on the one to the other server, a get and the READ of the block
            // succeed, and the WRITE fails.
            Softverbs.set("qp_error_after=2");
            assertNull(first.get(keyOf(space, 1)));
            assertTrue(first.touch(segment(near), 0, 0));
            pollUntil(first, NOTHING, () -> operations.failures[place] == 1);
            Softverbs.set("qp_error_after=0");
            long own = operations.block[place];
            assertTrue(operations.hasTrouble(place, RequestColumns.WRITE_UNKNOWN));
            assertEquals(1, space.space.serverOf(own));
            assertTrue(second.delete(near));
            space.stop(1);
            assertEquals(KvStatus.ABSENT, await(first));
            assertFalse(freePlaces(first).contains(SlotWord.place(own)), "a WRITE may land in a free block");
        }
    }

    /** @return the first key whose bucket is on this server */
    private static byte[] keyOf(TestSpace space, int server) {
        int number = 0;
        while (space.space.layout().serverOf(space.shape.bucketRegion(TestKeys.hash(TestKeys.bytes(number))))
                != server) {
            number++;
        }
        return TestKeys.bytes(number);
    }

    /** A session can give back blocks of a server that it does not reach, because the keeper passes them on. */
    @Test
    void blocksOfAServerThatIsNotReachedGoBack() {
        try (TestSpace space = new TestSpace(2, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            List<byte[]> missing = new ArrayList<>();
            int[] there = new int[2];
            for (int number = 0; there[1] == 0 || missing.size() < 2; number++) {
                byte[] key = TestKeys.bytes(number);
                if (space.space.layout().serverOf(space.shape.bucketRegion(TestKeys.hash(key))) == 1
                        && missing.size() < 2) {
                    missing.add(key);
                    continue;
                }
                session.set(key, new byte[LARGE_BYTES]);
                there[1] = 0;
                session.requests().allocator().forEachFree(block -> there[space.space.serverOf(block)]++);
            }
            passOne(session, missing.get(0));
            Softverbs.set("qp_error_after=1");
            assertTrue(session.get(segment(missing.get(1)), 0));
            failNext(session, session.requests().operations().first());
            int[] unreached = {0};
            session.requests()
                    .allocator()
                    .forEachFree(block -> unreached[0] +=
                            session.requests().connections().reaches(space.space.regionOf(SlotWord.place(block)))
                                    ? 0
                                    : 1);
            assertTrue(unreached[0] > 0, "the connection stands");
            session.requests().allocator().giveOthersBack(-1);
            assertFalse(session.requests().allocator().holdsAny(), "it keeps blocks that are to go back");
            assertEquals(KvStatus.ABSENT, await(session));
        }
    }

    /** Its thread has not polled for long, so its process has ended its connections, and all others continue. */
    @Test
    void aSessionThatWasCutOffContinuesWithOtherConnections() throws Exception {
        List<byte[]> keys = keys(2);
        try (TestSpace space = new TestSpace(2, 1, 1 << 20, 1000);
                MapSession session = space.map.openSession()) {
            session.set(keys.get(0), new byte[] {1});
            session.set(keys.get(1), new byte[100_000]);
            assertTrue(session.set(segment(keys.get(0)), segment(new byte[] {2}), 0));
            MapRequests cut = session.requests();
            cut.cut().get();
            assertEquals(KvStatus.LOST, await(session));
            assertArrayEquals(new byte[] {1}, session.get(keys.get(0)));
            assertNotSame(cut, session.requests());
            session.set(keys.get(0), new byte[] {3});
            assertArrayEquals(new byte[] {3}, session.get(keys.get(0)));
            assertEquals(100_000, session.get(keys.get(1)).length);
            // All that it had before is its own again, or free.
            Audit.of(space, List.of(session));
        }
    }

    /** The add's claim has replaced an object, whose block belongs to the session then. */
    @Test
    void anAddThatIsAbandonedWithItsClaimHasWhatItCrowdedOut() {
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            List<byte[]> keys = keys(SpaceShape.BUCKET_SLOTS + 1);
            byte[] added = keys.getLast();
            first.set(added, new byte[] {1});
            first.delete(added);
            keys.removeLast();
            keys.forEach(key -> second.set(key, new byte[] {2}));
            List<Long> before = words(bucket);
            assertTrue(before.stream().allMatch(SlotWord::isLive), "the bucket is full");
            first.poll(NOTHING);
            first.poll(NOTHING);
            assertTrue(first.add(segment(added), segment(new byte[] {3}), 0, 0));
            first.requests().operations().failures[first.requests().operations().first()] = OFTEN;
            // The compare-and-swap is done, and the READ after it is not.
            Softverbs.set("qp_error_after=1");
            assertEquals(KvStatus.LOST, await(first));
            Softverbs.set("qp_error_after=0");
            List<Long> after = words(bucket);
            int slot = 0;
            while (after.get(slot).equals(before.get(slot))) {
                slot++;
            }
            assertTrue(SlotWord.isClaim(after.get(slot)));
            assertEquals(1, first.requests().counts().of(MapSessionCounts.CROWDED_OUT));
            // The block of the object that was crowded out has an owner.
            Audit.of(bucket.space, List.of(first, second));
        }
    }

    /** The claim of a set into a full bucket, of which no answer came, and which the device has executed or not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aClaimOfUnknownOutcomeCostsNoBlock(boolean executed) {
        try (OneBucket bucket = new OneBucket(EvictionSettings.ADAPTIVE);
                MapSession first = bucket.space.map.openSession();
                MapSession second = bucket.space.map.openSession()) {
            List<byte[]> keys = keys(SpaceShape.BUCKET_SLOTS + 2);
            byte[] inserted = keys.removeLast();
            first.set(inserted, new byte[] {1});
            first.delete(inserted);
            byte[] missing = keys.removeLast();
            keys.forEach(key -> second.set(key, new byte[] {2}));
            assertTrue(words(bucket).stream().allMatch(SlotWord::isLive), "the bucket is full");
            passOne(first, missing);
            assertTrue(first.set(segment(inserted), segment(new byte[] {3}), 0));
            RequestColumns operations = first.requests().operations();
            int place = operations.first();
            failNext(first, place);
            long claim = SlotWord.claim(operations.block[place]);
            assertEquals(operations.word[place], bucket.word(operations.slot[place]));
            if (executed) {
                bucket.write(operations.slot[place], bytes(claim));
            }
            assertEquals(KvStatus.DONE, await(first));
            assertArrayEquals(new byte[] {3}, second.get(inserted));
            assertEquals(1, first.requests().counts().of(MapSessionCounts.CROWDED_OUT));
            assertTrue(first.requests().allocator().knowsAll());
            Audit.of(bucket.space, List.of(first, second));
        }
    }

    private static List<Long> words(OneBucket bucket) {
        List<Long> words = new ArrayList<>();
        for (int slot = 0; slot < SpaceShape.BUCKET_SLOTS; slot++) {
            words.add(bucket.word(slot));
        }
        return words;
    }
}
