package io.farheap.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.kv.Codec;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.store.index.HashIndex;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import io.farheap.tier.Fault;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FutureStoreSessionTest {

    private static final int KEYS = 2_000;

    private static final Update THROWING = new Update() {
        @Override
        public int initialBytes(long argument) {
            throw new ArithmeticException();
        }

        @Override
        public void initial(MemorySegment value, long offset, int bytes, long argument) {}

        @Override
        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
            throw new ArithmeticException();
        }

        @Override
        public void copy(
                MemorySegment old,
                long oldOffset,
                int oldBytes,
                MemorySegment value,
                long offset,
                int bytes,
                long arg) {
            throw new ArithmeticException();
        }
    };

    private MemoryDevice device;
    private FarStore store;
    private FutureStoreSession session;

    @BeforeEach
    void open() {
        device = new MemoryDevice(1 << 16, 512);
        store = FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(6 * 4096)
                .records(16, 32)
                .expectedKeys(KEYS)
                .pending(8)
                .open();
        session = store.openFutureSession("futures");
    }

    @AfterEach
    void close() {
        store.close();
        device.close();
    }

    private static byte[] key(int i) {
        return ("key " + i).getBytes(UTF_8);
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }

    @Test
    void futuresEndWithWhatIsThere() {
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            all.add(session.upsert(key(i), number(i)));
        }
        for (int i = 0; i < KEYS; i++) {
            all.add(session.update(key(i), Values.ADD, 1));
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).join();
        List<CompletableFuture<byte[]>> reads = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            reads.add(session.read(key(i)));
        }
        for (int i = 0; i < KEYS; i++) {
            assertArrayEquals(number(i + 1), reads.get(i).join());
        }
        session.delete(key(1)).join();
        assertNull(session.read(key(1)).join());
        byte[] value = "long ".repeat(500).getBytes(UTF_8);
        session.upsert(key(2), value).join();
        assertArrayEquals(value, session.read(key(2)).join());
    }

    /** The keys are in memory, on the device or absent, and the value of one is longer than the others. */
    @Test
    void manyAreReadByOneCall() {
        byte[] value = "long ".repeat(500).getBytes(UTF_8);
        List<byte[]> keys = new ArrayList<>();
        for (int i = 0; i < KEYS; i++) {
            session.upsert(key(i), i == 3 ? value : number(i));
            keys.add(key(KEYS - 1 - i));
        }
        session.delete(key(5));
        List<byte[]> values = session.readAll(keys).join();
        assertEquals(KEYS, values.size());
        for (int i = 0; i < KEYS; i++) {
            byte[] expected = i == 3 ? value : i == 5 ? null : number(i);
            assertArrayEquals(expected, values.get(KEYS - 1 - i), "key " + i);
        }
        assertEquals(List.of(), session.readAll(List.of()).join());
        // This key is in memory, so its read is called back at once.
        assertArrayEquals(
                number(KEYS - 1), session.readAll(List.of(key(KEYS - 1))).join().getFirst());
    }

    @Test
    void manyFailWhereOneDoes() {
        for (int i = 0; i < KEYS; i++) {
            session.upsert(key(i), number(i));
        }
        CompletableFuture<?> tooLong = session.readAll(List.of(key(1), new byte[17]));
        assertInstanceOf(
                IllegalArgumentException.class,
                assertThrows(CompletionException.class, tooLong::join).getCause());
        device.faults().inject((kind, address, length) -> kind == Fault.Kind.READ ? Fault.FAILED : Fault.NONE);
        CompletableFuture<?> failing = session.readAll(List.of(key(KEYS - 1), key(0), key(1)));
        assertInstanceOf(
                StoreException.class,
                assertThrows(CompletionException.class, failing::join).getCause());
        device.faults().inject((kind, address, length) -> Fault.NONE);
        assertArrayEquals(number(0), session.readAll(List.of(key(0))).join().getFirst());
    }

    @Test
    void whatDoesNotFitFailsAloneAndWhatAnUpdateThrowsReachesItsFuture() {
        CompletableFuture<?> tooLong = session.upsert(new byte[17], number(0));
        session.upsert(key(0), number(5)).join();
        assertInstanceOf(
                IllegalArgumentException.class,
                assertThrows(CompletionException.class, tooLong::join).getCause());
        // These upserts push the first key to the device, so that its update is pending.
        for (int i = 1; i < KEYS; i++) {
            session.upsert(key(i), number(i));
        }
        session.read(key(KEYS - 1)).join();
        CompletableFuture<Boolean> throwing = session.update(key(0), THROWING, 0);
        assertInstanceOf(
                ArithmeticException.class,
                assertThrows(CompletionException.class, throwing::join).getCause());
        assertArrayEquals(number(5), session.read(key(0)).join());
    }

    @Test
    void aFailureOfTheDeviceReachesTheFuture() {
        for (int i = 0; i < KEYS; i++) {
            session.upsert(key(i), number(i));
        }
        session.read(key(KEYS - 1)).join();
        device.faults().inject((kind, address, length) -> kind == Fault.Kind.READ ? Fault.FAILED : Fault.NONE);
        CompletionException failed = assertThrows(
                CompletionException.class, () -> session.read(key(0)).join());
        assertEquals(
                StoreStatus.FAILED,
                assertInstanceOf(StoreException.class, failed.getCause()).status());
    }

    @Test
    void itEndsWithTheStore() {
        CompletableFuture<?> last = session.upsert(key(0), number(0));
        store.close();
        last.join();
        assertInstanceOf(
                IllegalStateException.class,
                assertThrows(CompletionException.class, () -> session.read(key(0))
                                .join())
                        .getCause());
    }

    /**
     * The action runs on the thread that completes futures, for which the close would wait. The close is refused, and
     * the store stays open.
     */
    @Test
    void anActionCannotCloseTheStore() throws Exception {
        session.upsert(key(1), new byte[8]).join();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<Void> closing =
                session.update(key(1), new StandingStill(inside, go), 0).thenRun(store::close);
        inside.await();
        go.countDown();
        assertInstanceOf(
                IllegalStateException.class,
                assertThrows(CompletionException.class, closing::join).getCause());
        session.upsert(key(2), new byte[8]).join();
        store.openSession().close();
        assertNull(store.asMap(Codec.STRING, Codec.LONG).put("a", 1L));
    }

    /**
     * A pending read, and a pending read of many keys, fail if the index has no memory to grow. Another pending read
     * and later ones succeed.
     */
    @Test
    void whatFindsNoMemoryFailsAlone() throws Exception {
        try (MemoryDevice own = new MemoryDevice(1 << 14, 512);
                FarStore small = CompactionTest.withOneBucket(own)) {
            FutureStoreSession futures = filled(small);
            // Only the end of its chain on the device shows that this key is absent; then the read looks at the index.
            long absent = KEYS;
            while (CompactionTest.tag(absent) != CompactionTest.tag(0)) {
                absent++;
            }
            byte[] key = number(absent);
            AtomicInteger refused = new AtomicInteger();
            HashIndex index = IndexGrowthTest.index(small);
            index.tables = buckets -> new IndexGrowthTest.Refusing(buckets, () -> refused.getAndIncrement() < 2);
            List<CompletableFuture<?>> all = whilePending(
                    futures,
                    () -> List.of(futures.read(key), futures.readAll(List.of(key, number(2))), futures.read(number(1))),
                    index::grow);
            assertInstanceOf(OutOfMemoryError.class, failure(all.get(0)));
            assertInstanceOf(OutOfMemoryError.class, failure(all.get(1)));
            assertArrayEquals(number(1), (byte[]) ended(all.get(2)));
            assertEquals(2, refused.get());
            assertNull(ended(futures.read(key)));
            assertArrayEquals(
                    number(2), ended(futures.readAll(List.of(key, number(2)))).get(1));
            futures.close();
        }
    }

    /** If the thread of the futures ends, pending updates fail, also if they throw meanwhile, and so do later reads. */
    @Test
    void allEndWithTheThread() throws Exception {
        try (MemoryDevice own = new MemoryDevice(1 << 14, 512);
                FarStore small = CompactionTest.withOneBucket(own)) {
            FutureStoreSession futures = filled(small);
            StoreSession inner = Fields.get(futures, "session", StoreSession.class);
            List<CompletableFuture<?>> all = whilePending(
                    futures,
                    () -> List.of(futures.update(number(1), THROWING, 0), futures.update(number(2), THROWING, 0)),
                    inner.listed()::refuse);
            all.forEach(each -> assertInstanceOf(IllegalStateException.class, failure(each)));
            assertInstanceOf(IllegalStateException.class, failure(futures.read(number(1))));
        }
    }

    /** Stores all keys, the first of which are then on the device. */
    private static FutureStoreSession filled(FarStore store) {
        FutureStoreSession futures = store.openFutureSession("futures");
        for (int i = 0; i < KEYS; i++) {
            futures.upsert(number(i), number(i));
        }
        return futures;
    }

    /** Runs {@code meanwhile} after the thread has begun the operations, and before it polls again. */
    private static List<CompletableFuture<?>> whilePending(
            FutureStoreSession futures, Supplier<List<CompletableFuture<?>>> begin, Runnable meanwhile)
            throws InterruptedException {
        CountDownLatch before = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        futures.update(number(KEYS - 1), new StandingStill(before, goOn), 0);
        before.await();
        List<CompletableFuture<?>> all = begin.get();
        futures.update(number(KEYS - 1), new StandingStill(begun, go), 0);
        goOn.countDown();
        begun.await();
        try {
            meanwhile.run();
        } finally {
            go.countDown();
        }
        return all;
    }

    private static <T> T ended(CompletableFuture<T> future) throws Exception {
        return future.get(TestDevice.patience(60_000_000_000L), TimeUnit.NANOSECONDS);
    }

    private static Throwable failure(CompletableFuture<?> future) {
        return assertThrows(ExecutionException.class, () -> ended(future)).getCause();
    }
}
