package io.farheap.kv;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.kv.contract.KvHandler;
import io.farheap.kv.contract.KvStatus;
import io.farheap.kv.format.SlotWord;
import io.farheap.kv.format.TestKeys;
import io.farheap.kv.space.PointerCache;
import io.farheap.kv.space.Reconnects;
import io.farheap.kv.space.RequestColumns;
import io.farheap.lifetime.Closeables;
import io.farheap.remote.RemoteQueue;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.testing.Fields;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.Softverbs;
import io.farheap.testing.Wait;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A key's slot and its block are on two servers, so a request that changes the key swaps the slot's word once the
 * block's mark has come back. In between it may be slow, die, or lose its connections.
 */
class HeldBackSwapTest {

    private static final KvHandler NOTHING = (tag, status, found, at, bytes) -> {};
    private static final int POINTERS = 100;
    private static final int FEW = 10;
    /** More gets than it takes until an object that stays marked is stored again. */
    private static final int MANY = 100;

    private static final long LIFE = 1_000_000;

    private TestSpace space;
    /** Each session has pointers of its own, as those of other processes have. */
    private MapSession reader;

    private MapSession writer;
    private MapSession other;
    private byte[] key = {};
    private ProbedSlot slot;
    private final byte[] before = TestKeys.bytes(1);
    private final byte[] after = TestKeys.bytes(2);

    @BeforeEach
    void open() {
        space = new TestSpace(3, 1, 1 << 20, 100);
        reader = session();
        writer = session();
        other = session();
        int number = 0;
        do {
            if (slot != null) {
                assertTrue(reader.delete(key));
                slot.close();
            }
            key = TestKeys.bytes(number++);
            slot = new ProbedSlot(space, key);
            reader.set(key, before);
        } while (!slot.isApart());
        ProbedSlot.point(reader, key);
    }

    /** A session that has free blocks. */
    private MapSession session() {
        MapSession session = space.map.openSession(new PointerCache(POINTERS));
        session.set(before, before);
        session.delete(before);
        return session;
    }

    @AfterEach
    void close() {
        Closeables.all(reader, writer, other, slot, space);
    }

    private static void until(BooleanSupplier condition) {
        Wait.until(condition, 30_000_000_000L, "it does not come so far");
    }

    private enum Change {
        SET,
        REPLACE,
        COMPARE_AND_SET,
        INCREMENT,
        TOUCH,
        DELETE,
        MOVE,
        EVICT
    }

    private boolean begin(Change change) {
        MemorySegment name = MemorySegment.ofArray(key);
        MemorySegment value = MemorySegment.ofArray(after);
        return switch (change) {
            case SET -> writer.set(name, value, 0);
            case REPLACE -> writer.replace(name, value, 0, 0);
            case COMPARE_AND_SET ->
                writer.compareAndSet(name, value, reader.getVersioned(key).version(), 0, 0);
            case INCREMENT -> writer.increment(name, 1, 0);
            case TOUCH -> writer.touch(name, LIFE, 0);
            case DELETE -> writer.delete(name, 0);
            case MOVE -> slot.move(writer, RequestColumns.MOVE, 0);
            case EVICT -> slot.move(writer, RequestColumns.EVICT, 0);
        };
    }

    /** What gets find once the change has been made. */
    private byte[] changed(Change change) {
        return switch (change) {
            case TOUCH, MOVE -> before;
            case DELETE, EVICT -> null;
            default -> after;
        };
    }

    /**
     * Lets the writer begin a change, and stops it when the block is marked.
     *
     * @return the slot's word, which the writer has not changed yet
     */
    private long holdBack(Change change) {
        long word = slot.word();
        assertTrue(SlotWord.hasPointers(word));
        long swaps = writer.posted().swaps();
        assertTrue(begin(change));
        while (writer.posted().swaps() == swaps) {
            writer.poll(NOTHING);
        }
        // The mark is on its way, and the writer continues with its next poll.
        until(() -> slot.isMarked(word));
        assertEquals(word, slot.word());
        return word;
    }

    private int finish() {
        int[] ended = {-1};
        writer.requests().awaitAll((tag, status, found, at, bytes) -> ended[0] = status);
        return ended[0];
    }

    private void audit() {
        Audit.of(space, List.of(reader, writer, other));
    }

    /** Nothing has changed until the swap: gets find the object, by the table. */
    @ParameterizedTest
    @EnumSource
    void getsFindTheObjectUntilTheSwap(Change change) {
        long word = holdBack(change);
        long stale = ProbedSlot.stale(reader);
        long hits = ProbedSlot.hits(reader);
        for (int get = 0; get < FEW; get++) {
            assertArrayEquals(before, reader.get(key));
            assertArrayEquals(before, other.get(key));
        }
        assertEquals(stale + 1, ProbedSlot.stale(reader));
        assertEquals(hits, ProbedSlot.hits(reader));
        assertEquals(word, slot.word());
        assertEquals(KvStatus.DONE, finish());
        assertArrayEquals(changed(change), reader.get(key));
        assertArrayEquals(changed(change), other.get(key));
        audit();
    }

    /** Another process has stored the object again by then. A request that was given a key still changes it. */
    @ParameterizedTest
    @EnumSource
    void aChangeThatIsSlowIsMadeOrSaysSo(Change change) {
        long word = holdBack(change);
        for (int get = 0; get < MANY; get++) {
            assertArrayEquals(before, reader.get(key));
        }
        assertFalse(SlotWord.isSame(word, slot.word()), "the object stays marked");
        boolean ofSlot = change == Change.MOVE || change == Change.EVICT;
        assertEquals(ofSlot ? KvStatus.CHANGED : KvStatus.DONE, finish());
        byte[] now = ofSlot ? before : changed(change);
        assertArrayEquals(now, reader.get(key));
        assertArrayEquals(now, other.get(key));
        audit();
    }

    /** The writer has died. A process that has not had a pointer to the object finds it by one again, too. */
    @ParameterizedTest
    @EnumSource
    void theObjectOfAWriterThatDiedIsFoundByPointersAgain(Change change) {
        long word = holdBack(change);
        for (int get = 0; get < MANY; get++) {
            assertArrayEquals(before, other.get(key));
        }
        assertTrue(ProbedSlot.hits(other) > 0, "each get reads the slot");
        assertFalse(SlotWord.isSame(word, slot.word()));
        ProbedSlot.point(reader, key);
        other.set(key, after);
        assertArrayEquals(after, reader.get(key));
        assertTrue(other.delete(key));
        assertNull(reader.get(key));
        endWithoutLoss();
    }

    /** All blocks are free again once the sessions have closed, that of the one that died among them. */
    private void endWithoutLoss() {
        Closeables.all(writer, reader, other);
        until(() -> space.map.audit().held() == 0);
        MapAudit audit = space.map.audit();
        assertTrue(audit.sound(), audit::toString);
        assertEquals(0, audit.lost(), audit::toString);
    }

    /** The connection to the slot's server has failed, and is made again before the mark comes back from the other. */
    @Needs(Need.SOFTVERBS)
    @Test
    void aSetContinuesThatLearnsOfAFailureOnceAllConnectionsStandAgain() {
        Reconnects connections = writer.requests().connections();
        RemoteQueue queue = Fields.get(connections, "queue", RemoteQueue.class);
        RemoteRegion region = space.regions.get(space.shape.bucketRegion(TestKeys.hash(key)));
        for (int get = 0; get < FEW; get++) {
            // Of all servers, so that they have been reached over the writer's connections.
            writer.get(TestServers.key(get));
        }
        until(() -> {
            writer.poll(NOTHING);
            return queue.inFlight() == 0;
        });
        RequestColumns columns = writer.requests().operations();
        int place = columns.next();
        assertTrue(begin(Change.SET));
        // Another thread than the session's has to ask for that.
        CompletableFuture.runAsync(() -> queue.fence(region.server()).join()).join();
        writer.poll(NOTHING);
        assertTrue(columns.lost[place] && columns.pending[place] > 0, "it waits for the mark, and has failed");
        connections.mend();
        assertEquals(1, connections.begun());
        until(() -> connections.reaches(region));
        assertEquals(KvStatus.DONE, finish());
        assertEquals(1, columns.failures[place]);
        assertArrayEquals(after, reader.get(key));
        assertArrayEquals(after, other.get(key));
        endWithoutLoss();
    }

    /** The writer's connection fails at each of its operations in turn. */
    @Needs(Need.SOFTVERBS)
    @ParameterizedTest
    @ValueSource(strings = {"SET", "TOUCH", "DELETE"})
    void whateverOperationFailsNoPointerIsStale(Change change) {
        int failures = 0;
        for (int operations = 1; operations <= 6; operations++) {
            reader.set(key, before);
            ProbedSlot.point(reader, key);
            writer.poll(NOTHING);
            writer.poll(NOTHING);
            RequestColumns columns = writer.requests().operations();
            int place = columns.next();
            Softverbs.set("qp_error_after=" + operations);
            try {
                assertTrue(begin(change));
                until(() -> {
                    writer.poll(NOTHING);
                    return columns.failures[place] > 0 || writer.inFlight() == 0;
                });
                failures += columns.failures[place];
            } finally {
                Softverbs.set("qp_error_after=0");
            }
            byte[] found = reader.get(key);
            assertArrayEquals(found, other.get(key));
            finish();
            byte[] last = other.get(key);
            assertArrayEquals(last, reader.get(key), () -> "after " + found[0]);
            assertArrayEquals(last, writer.get(key));
        }
        assertTrue(failures > 2, failures + " connections have failed");
        endWithoutLoss();
    }
}
