package io.farheap.store;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.store.checkpoint.MemoryFiles;
import io.farheap.store.checkpoint.StableFiles;
import io.farheap.store.contract.CheckpointKind;
import io.farheap.store.contract.StoreException;
import io.farheap.store.contract.StoreStatus;
import io.farheap.store.contract.Update;
import io.farheap.store.format.Hashes;
import io.farheap.store.operation.StoreContext;
import io.farheap.store.operation.StoreVersion;
import io.farheap.testing.Effort;
import io.farheap.tier.Fault;
import io.farheap.tier.MemoryDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The promise of a checkpoint: it has all operations of each session up to one of them, and none after it. */
class CheckpointTest {

    private static final int SESSIONS = 3;
    /** Keys that each session has for itself; {@link #SHARED} counters belong to all sessions. */
    private static final int OWN = 400;

    private static final int SHARED = 100;

    private final long seed = Long.getLong("farheap.seed", System.nanoTime());
    private final AtomicLong done = new AtomicLong();
    private final MemoryFiles files = new MemoryFiles();

    private FarStoreBuilder how(MemoryDevice device) {
        return FarStore.builder()
                .device(device)
                .pageBytes(4096)
                .memory(8 * 4096)
                .readCache(6 * 4096)
                .expectedKeys(64)
                .pending(16)
                .checkpointOnClose(false)
                .files(files);
    }

    private static MemoryDevice device() {
        return new MemoryDevice(1 << 16, 512);
    }

    private static long ownKey(int session, long operation) {
        return 1_000_000L * (session + 1) + operation * 7 % OWN;
    }

    /** @return a hash that selects the counter of a session's operation, in the load and in the check */
    private long sharedKey(int session, long operation) {
        return Hashes.of(seed + session * 31L + operation);
    }

    private static void put(StoreSession session, MemorySegment memory, long key, long value) {
        memory.set(JAVA_LONG_UNALIGNED, 0, value);
        while (session.upsert(key, memory, 0, 8) != StoreStatus.DONE) {
            Calls.goOn(session);
        }
    }

    private static void add(StoreSession session, long key, long delta) {
        while (session.update(key, Values.ADD, delta, (token, status, bytes) -> {}, 0) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
    }

    private static long get(StoreSession session, MemorySegment memory, long key) {
        memory.set(JAVA_LONG_UNALIGNED, 0, 0);
        while (session.read(key, memory, 0, 8, (token, status, bytes) -> {}, 0) == StoreStatus.FULL) {
            Calls.goOn(session);
        }
        session.drain();
        return memory.get(JAVA_LONG_UNALIGNED, 0);
    }

    /** Does an operation of a session: an even one stores its number, an odd one adds it to a shared counter. */
    private void operation(StoreSession session, MemorySegment memory, int number, long operation) {
        if (operation % 2 == 0) {
            put(session, memory, ownKey(number, operation), operation);
        } else {
            add(session, Math.floorMod(sharedKey(number, operation), (long) SHARED), operation);
        }
    }

    private void more(long operations, Future<?> load) throws Exception {
        long before = done.get();
        while (done.get() < before + operations && !load.isDone()) {
            Thread.sleep(1);
        }
    }

    private void load(FarStore store, AtomicBoolean stop) throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(SESSIONS)) {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < SESSIONS; i++) {
                int number = i;
                ends.add(threads.submit(() -> {
                    try (StoreSession session = store.openSession("s" + number);
                            Arena arena = Arena.ofConfined()) {
                        MemorySegment memory = arena.allocate(8);
                        while (!stop.get()) {
                            operation(session, memory, number, session.serial() + 1);
                            done.incrementAndGet();
                            if (session.serial() % 8 == 0) {
                                session.poll();
                            }
                        }
                    }
                    return null;
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        }
    }

    private void verify(FarStore store) {
        long[] counters = new long[SHARED];
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            for (int number = 0; number < SESSIONS; number++) {
                try (StoreSession session = store.openSession("s" + number)) {
                    long serial = session.serial();
                    long[] own = new long[OWN];
                    for (long operation = 1; operation <= serial; operation++) {
                        if (operation % 2 == 0) {
                            own[(int) (ownKey(number, operation) - 1_000_000L * (number + 1))] = operation;
                        } else {
                            counters[(int) Math.floorMod(sharedKey(number, operation), (long) SHARED)] += operation;
                        }
                    }
                    try (StoreSession reader = store.openSession()) {
                        for (int key = 0; key < OWN; key++) {
                            long there = get(reader, memory, 1_000_000L * (number + 1) + key);
                            assertEquals(own[key], there, "session " + number + ", key " + key + ", serial " + serial);
                        }
                    }
                }
            }
            try (StoreSession reader = store.openSession()) {
                for (int key = 0; key < SHARED; key++) {
                    assertEquals(counters[key], get(reader, memory, key), "counter " + key);
                }
            }
        }
    }

    /**
     * One store is opened several times. Each time it makes checkpoints during a load, and loses the operations after
     * the last checkpoint.
     */
    @ParameterizedTest
    @CsvSource({"FOLD_OVER, false", "FOLD_OVER, true", "SNAPSHOT, false", "SNAPSHOT, true", "INCREMENTAL, true"})
    void eachSessionsPrefixIsThere(CheckpointKind kind, boolean index) throws Exception {
        System.out.println("seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (MemoryDevice device = device()) {
            for (int life = 0; life < Effort.either(2, 5); life++) {
                FarStoreBuilder how = how(device).checkpoints(kind).indexInCheckpoints(index);
                try (FarStore store = how.open()) {
                    if (life > 0) {
                        assertTrue(store.recovery().contains("recovered"), store.recovery());
                    }
                    verify(store);
                    AtomicBoolean stop = new AtomicBoolean();
                    try (ExecutorService loader = Executors.newSingleThreadExecutor()) {
                        Future<?> end = loader.submit(() -> {
                            load(store, stop);
                            return null;
                        });
                        try {
                            for (int i = 0; i < 1 + random.nextInt(4); i++) {
                                more(10_000, end);
                                if (random.nextBoolean()) {
                                    store.compact(store.logBytes() / 2);
                                }
                                store.checkpoint();
                            }
                            more(5_000, end);
                        } finally {
                            stop.set(true);
                        }
                        end.get();
                    }
                }
            }
            try (FarStore store = how(device).open()) {
                verify(store);
            }
        }
    }

    /** Waits when a snapshot begins: all sessions are in the new version then, and the store is not at rest yet. */
    private record SlowFiles(StableFiles files, CountDownLatch begun, CountDownLatch go) implements InvocationHandler {

        @Override
        public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
            if (method.getName().equals("create")
                    && String.valueOf(arguments[0]).startsWith("snapshot")) {
                begun.countDown();
                go.await();
            }
            return method.invoke(files, arguments);
        }

        StableFiles proxy() {
            return (StableFiles) Proxy.newProxyInstance(
                    StableFiles.class.getClassLoader(), new Class<?>[] {StableFiles.class}, this);
        }
    }

    /**
     * If the copy were published later, it would replace a record that other sessions may update in place as soon as
     * the store is at rest, and their updates would be lost.
     */
    @Test
    void aCopyThatWasBegunBesideACheckpointIsPublishedBeforeTheStoreRests() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CountDownLatch copied = new CountDownLatch(1);
        CountDownLatch publish = new CountDownLatch(1);
        try (MemoryDevice device = device();
                ExecutorService threads = Executors.newFixedThreadPool(2);
                Arena arena = Arena.ofConfined();
                FarStore store = how(device)
                        .checkpoints(CheckpointKind.SNAPSHOT)
                        .files(new SlowFiles(files, begun, goOn).proxy())
                        .open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(8);
            put(session, memory, 1, 100);
            Future<Long> checkpoint = threads.submit(store::checkpoint);
            begun.await();
            Future<Integer> copying = threads.submit(() -> {
                try (StoreSession other = store.openSession()) {
                    Update update = new StandingStill(copied, publish) {
                        @Override
                        public boolean inPlace(MemorySegment value, long offset, int bytes, long argument) {
                            throw new AssertionError("the record is of the version before");
                        }
                    };
                    return other.update(1, update, 10, (token, status, bytes) -> {}, 0);
                }
            });
            copied.await();
            goOn.countDown();
            // Upserts another key until sessions are held, or until the checkpoint is made.
            while (!checkpoint.isDone() && session.upsert(2, memory, 0, 8) == StoreStatus.DONE) {
                Thread.onSpinWait();
            }
            long added = 0;
            if (checkpoint.isDone()) {
                add(session, 1, ++added);
            }
            publish.countDown();
            assertEquals(StoreStatus.DONE, copying.get());
            checkpoint.get();
            assertEquals(110 + added, get(session, memory, 1));
            assertEquals(1, checkpoint.get());
        } finally {
            goOn.countDown();
            publish.countDown();
        }
    }

    @Test
    void aDamagedCheckpointGivesWayToTheOneBefore() {
        try (MemoryDevice device = device();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            try (FarStore store = how(device).open();
                    StoreSession session = store.openSession("a")) {
                put(session, memory, 1, 10);
                assertEquals(1, store.checkpoint());
                assertEquals(1, session.durableSerial());
                put(session, memory, 1, 20);
                assertEquals(2, store.checkpoint());
            }
            byte[] newest = files.files.get("checkpoint-2");
            newest[newest.length / 2] ^= 1;
            try (FarStore store = how(device).open();
                    StoreSession session = store.openSession("a")) {
                assertEquals(
                        "checkpoint 2 cannot be used: its checksum is wrong; checkpoint 1 is recovered, and newer ones"
                                + " are set aside, in files whose names end with .damaged",
                        store.recovery());
                assertArrayEquals(newest, files.files.get("checkpoint-2.damaged"));
                assertEquals(1, session.serial());
                assertEquals(10, get(session, memory, 1));
                put(session, memory, 1, 30);
                // The new checkpoint takes the number of the damaged one, and does not overwrite its file.
                assertEquals(2, store.checkpoint());
                assertArrayEquals(newest, files.files.get("checkpoint-2.damaged"));
            }
            try (FarStore store = how(device).open();
                    StoreSession session = store.openSession("a")) {
                assertEquals(30, get(session, memory, 1));
            }
            files.files.replaceAll((name, bytes) -> new byte[bytes.length]);
            StoreException refused =
                    assertThrows(StoreException.class, () -> how(device).open());
            assertTrue(refused.getMessage().contains("no checkpoint that is whole"), refused.getMessage());
        }
    }

    @Test
    void aSessionThatIsNotPolledMakesACheckpointFailAndIsNamed() {
        try (MemoryDevice device = device();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            try (FarStore store = how(device).patience(Duration.ofMillis(50)).open();
                    StoreSession session = store.openSession("sleeper");
                    StoreSession other = store.openSession("other")) {
                for (long key = 0; key < 4_000; key++) {
                    put(other, memory, key, key);
                }
                while (session.update(5, Values.ADD, 1, (token, status, bytes) -> {}, 0) != StoreStatus.PENDING) {
                    session.poll();
                }
                StoreException late = assertThrows(StoreException.class, store::checkpoint);
                assertTrue(late.getMessage().contains("sleeper"), late.getMessage());
                // The failed checkpoint holds up no other session.
                put(other, memory, 7, 70);
                session.drain();
                assertEquals(1, store.checkpoint());
                assertEquals(6, get(session, memory, 5));
            }
        }
    }

    @Test
    void patienceWithoutEndHasNone() throws Exception {
        try (MemoryDevice device = device();
                ExecutorService threads = Executors.newSingleThreadExecutor();
                Arena arena = Arena.ofConfined();
                FarStore store =
                        how(device).patience(Duration.ofSeconds(Long.MAX_VALUE)).open();
                StoreSession session = store.openSession()) {
            MemorySegment memory = arena.allocate(8);
            for (long key = 0; key < 4_000; key++) {
                put(session, memory, key, key);
            }
            device.faults().hold();
            assertEquals(StoreStatus.PENDING, session.update(5, Values.ADD, 1, (token, status, bytes) -> {}, 0));
            Future<Long> checkpoint = threads.submit(store::checkpoint);
            while (!StoreVersion.draining(version(store).state()) && !checkpoint.isDone()) {
                Thread.sleep(1);
            }
            device.faults().letGo();
            session.drain();
            assertEquals(1, checkpoint.get());
        }
    }

    /**
     * An update that waits for the device belongs to the checkpoint. Another session's update of the same key, which
     * would belong to the next checkpoint, has to wait for it.
     */
    @Test
    void nobodyOvertakesAnUpdateThatWaitsForTheDevice() throws Exception {
        try (MemoryDevice device = device();
                ExecutorService threads = Executors.newSingleThreadExecutor();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            try (FarStore store = how(device).open();
                    StoreSession first = store.openSession("first");
                    StoreSession second = store.openSession("second")) {
                for (long key = 0; key < 4_000; key++) {
                    put(first, memory, key, key);
                }
                device.faults().hold();
                assertEquals(StoreStatus.PENDING, first.update(5, Values.ADD, 1, (token, status, bytes) -> {}, 0));
                Future<Long> checkpoint = threads.submit(store::checkpoint);
                while (!StoreVersion.draining(version(store).state())) {
                    Thread.sleep(1);
                }
                // The checkpoint waits for the first session. An upsert of the second, which ends at once, belongs to
                // this checkpoint, too.
                put(second, memory, 5_000, 50);
                assertEquals(StoreStatus.FULL, second.update(5, Values.ADD, 1_000, (token, status, bytes) -> {}, 0));
                long before = second.serial();
                device.faults().letGo();
                first.drain();
                checkpoint.get();
                add(second, 5, 1_000);
                second.drain();
                assertEquals(1_006, get(second, memory, 5));
                assertEquals(before, second.durableSerial());
            }
            try (FarStore store = how(device).open();
                    StoreSession session = store.openSession("first")) {
                assertEquals(4_001, session.serial());
                assertEquals(6, get(session, memory, 5));
                assertEquals(50, get(session, memory, 5_000));
            }
        }
    }

    private static StoreVersion version(FarStore store) throws ReflectiveOperationException {
        Field parts = FarStore.class.getDeclaredField("parts");
        parts.setAccessible(true);
        return ((StoreContext) parts.get(store)).version();
    }

    @Test
    void aLogWithAWrongBitIsRefusedAndNothingIsChanged() {
        try (MemoryDevice device = device();
                Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(8);
            try (FarStore store = how(device).open();
                    StoreSession session = store.openSession("a")) {
                for (long key = 0; key < 4_000; key++) {
                    put(session, memory, key, key);
                }
                store.checkpoint();
                store.checkpoint();
            }
            device.faults()
                    .inject((kind, address, length) ->
                            kind == Fault.Kind.READ && address == 8192 ? Fault.FLIPPED_UNNOTICED : Fault.NONE);
            StoreException refused =
                    assertThrows(StoreException.class, () -> how(device).open());
            assertTrue(
                    refused.getMessage().contains("its log from 8192 to 12288 has another checksum"),
                    refused::getMessage);
            device.faults().inject(null);
            try (FarStore store = how(device).open();
                    StoreSession session = store.openSession("a")) {
                assertEquals(4_000, session.serial());
                assertEquals(500, get(session, memory, 500));
            }
        }
    }
}
