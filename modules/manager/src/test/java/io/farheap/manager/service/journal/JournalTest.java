package io.farheap.manager.service.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.ControlException.Code;
import io.farheap.manager.ServerReport;
import io.farheap.manager.state.AllocationTerms;
import io.farheap.manager.state.CacheRecord;
import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.StaleEpochException;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.StateStore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A journal with a store that writes only when the test allows it. */
@Timeout(60)
class JournalTest {

    private final List<List<StateChange>> written = Collections.synchronizedList(new ArrayList<>());
    private volatile CountDownLatch gate = new CountDownLatch(0);
    private volatile RuntimeException failure;
    private volatile CountDownLatch readGate = new CountDownLatch(0);
    private volatile RuntimeException unreadable;
    private int recoveries;
    private final List<StateChange> onDisk = new ArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicLong now = new AtomicLong();
    private Journal journal = journal(TimeUnit.SECONDS.toNanos(60));

    private Journal journal(long waitNanos) {
        return new Journal(
                new StateStore() {
                    @Override
                    public long epoch() {
                        return 1;
                    }

                    @Override
                    public ManagerState load() {
                        assertTrue(!lock.isHeldByCurrentThread());
                        try {
                            readGate.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                        if (unreadable != null) {
                            throw unreadable;
                        }
                        return new ManagerState(List.of(), List.of(), "", List.of(), List.of(), List.of());
                    }

                    @Override
                    public void write(List<StateChange> changes) {
                        assertTrue(!lock.isHeldByCurrentThread());
                        written.add(List.copyOf(changes));
                        try {
                            gate.await();
                        } catch (InterruptedException e) {
                            throw new AssertionError(e);
                        }
                        if (failure != null) {
                            throw failure;
                        }
                    }
                },
                lock,
                onDisk::add,
                _ -> recoveries++,
                this::thread,
                waitNanos,
                now::get);
    }

    private boolean noThreads;

    private Thread thread(Runnable task) {
        if (noThreads) {
            throw new OutOfMemoryError("no native thread, on purpose");
        }
        return Thread.ofPlatform().daemon().unstarted(task);
    }

    private final AtomicInteger made = new AtomicInteger();

    private void change(long id) {
        Journal.Group changes;
        lock.lock();
        try {
            journal.recover();
            journal.add(new StateChange.RemoveCache(id));
            changes = journal.latest();
        } finally {
            lock.unlock();
        }
        made.incrementAndGet();
        Journal.await(changes);
    }

    /** @return calls that write at the same time: the first is written alone, all others together behind it */
    private List<Future<?>> together(ExecutorService threads, int count) throws InterruptedException {
        gate = new CountDownLatch(1);
        List<Future<?>> calls = new ArrayList<>();
        calls.add(threads.submit(() -> change(0)));
        while (written.isEmpty()) {
            Thread.sleep(1);
        }
        for (int i = 1; i < count; i++) {
            long id = i;
            calls.add(threads.submit(() -> change(id)));
        }
        while (made.get() < count) {
            Thread.sleep(1);
        }
        return calls;
    }

    @Test
    void whatComesMeanwhileIsWrittenTogether() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> calls = together(threads, 20);
            assertTrue(calls.stream().noneMatch(Future::isDone));
            gate.countDown();
            for (Future<?> call : calls) {
                call.get(30, TimeUnit.SECONDS);
            }
        }
        assertEquals(List.of(1, 19), written.stream().map(List::size).toList());
        assertEquals(20, onDisk.size());
        assertEquals(0, recoveries);
    }

    /** A group that is larger than one write of ZooKeeper would fail, and again each time. */
    @Test
    void aGroupOfLongRecordsFitsIntoOneWrite() {
        lock.lock();
        try {
            String place = "\u0001".repeat(256);
            SortedMap<Long, Integer> regions = new TreeMap<>(Map.of(1L, 1));
            for (int id = 1; id <= 800; id++) {
                AllocationTerms terms = new AllocationTerms(place, 5, 0, 0, "tenant");
                journal.add(new StateChange.PutCache(
                        new CacheRecord(id, "cache", 1, 0, 1, terms, 1, regions, new TreeMap<>())));
            }
            journal.latest();
        } finally {
            lock.unlock();
        }
        Journal.await(latest());
        assertEquals(800, written.stream().mapToInt(List::size).sum());
        int escaped = 6 * 256;
        written.forEach(group -> assertTrue(group.size() * escaped < 1_000_000, group.size() + " records at once"));
    }

    @Test
    void whatWasBuiltOnAFailureFailsToo() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> calls = together(threads, 20);
            failure = new StateException("the disk is full");
            gate.countDown();
            for (Future<?> call : calls) {
                Throwable why = assertThrows(Exception.class, () -> call.get(30, TimeUnit.SECONDS))
                        .getCause();
                assertEquals(Code.INTERNAL, ((ControlException) why).code());
                assertTrue(why.getMessage().contains("the disk is full"), why.getMessage());
            }
            assertEquals(1, written.size(), "nothing else was tried");
            assertEquals(List.of(), onDisk);
        }
        failure = null;
        change(7);
        assertEquals(1, recoveries);
        assertEquals(List.of(new StateChange.RemoveCache(7)), onDisk);
        change(8);
        assertEquals(1, recoveries);
    }

    /** It would put on disk a record that was built on one that is not there. */
    @Test
    void whatWasAddedBehindAFailureIsNotWritten() {
        failure = new StateException("the disk is full");
        readGate = new CountDownLatch(1);
        assertThrows(ControlException.class, () -> change(0));
        failure = null;
        lock.lock();
        try {
            journal.add(new StateChange.RemoveCache(1));
        } finally {
            lock.unlock();
        }
        readGate.countDown();
        change(2);
        assertEquals(1, recoveries);
        assertEquals(List.of(new StateChange.RemoveCache(2)), onDisk);
    }

    /** A report may change records, and the action behind it too: they are made equal to the disk first. */
    @Test
    void noReportIsReadOnMemoryThatIsAheadOfTheDisk() {
        Inbox inbox = new Inbox();
        ServerReport report = new ServerReport(
                1, "a:1", "t", false, "d/c/r", "r", 1 << 20, 8, 8, 30_000, false, 0, Map.of(), Set.of());
        inbox.expect(report);
        List<Integer> readAfter = new ArrayList<>();
        ManagerLock managers = new ManagerLock(lock, journal, inbox, (_, _) -> readAfter.add(recoveries));
        failure = new StateException("the disk is full");
        readGate = new CountDownLatch(1);
        assertThrows(ControlException.class, () -> change(0));
        failure = null;
        assertTrue(inbox.keep(report, 1));
        managers.tryRead();
        assertEquals(List.of(), readAfter);
        readGate.countDown();
        managers.locked(() -> readAfter.add(10 + recoveries));
        assertEquals(List.of(1, 11), readAfter);
        assertTrue(inbox.keep(report, 2));
        managers.tryRead();
        assertEquals(List.of(1, 11, 1), readAfter);
    }

    /** A store that cannot be reached takes its time. */
    @Test
    void callersAreRefusedWhileTheStateIsReadAgainAndTheLockIsFree() throws Exception {
        journal = journal(1_000_000);
        failure = new StateException("the disk is full");
        readGate = new CountDownLatch(1);
        assertThrows(ControlException.class, () -> change(0));
        failure = null;
        ManagerLock managers = new ManagerLock(lock, journal, new Inbox(), (_, _) -> {});
        for (int i = 0; i < 2; i++) {
            ControlException refused = assertThrows(ControlException.class, () -> change(1));
            assertEquals(Code.UNAVAILABLE, refused.code());
            assertTrue(refused.getMessage().contains("reads it again"), refused.getMessage());
            assertThrows(ControlException.class, () -> managers.locked(() -> onDisk.clear()));
            assertTrue(!managers.held(managers::isCurrent), "the lock is free");
        }
        readGate.countDown();
        while (!managers.held(managers::isCurrent)) {
            Thread.sleep(1);
        }
        change(2);
        assertTrue(managers.held(managers::isCurrent));
        assertEquals(List.of(new StateChange.RemoveCache(2)), onDisk);
        assertEquals(1, recoveries);
    }

    /** Otherwise servers would report to it for as long as it does not notice. */
    @Test
    void aManagerThatReadsThatAnotherOneLeadsKeepsNoReports() {
        failure = new StateException("no ZooKeeper answers");
        unreadable = new StaleEpochException("another one");
        assertThrows(ControlException.class, () -> change(0));
        ControlException refused = assertThrows(ControlException.class, () -> change(1));
        assertEquals(Code.UNAVAILABLE, refused.code());
        assertTrue(refused.getMessage().contains("leads no more: another one"), refused.getMessage());
        assertTrue(!journal.isReading());
    }

    /** Nothing more is built on what may take long to fail. */
    @Test
    void callersAreRefusedWhileAWriteIsLate() throws Exception {
        journal = journal(1_000_000);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> calls = together(threads, 2);
            now.addAndGet(2_000_001);
            assertTrue(journal.isReading());
            ControlException refused = assertThrows(ControlException.class, () -> change(7));
            assertEquals(Code.UNAVAILABLE, refused.code());
            gate.countDown();
            for (Future<?> call : calls) {
                call.get(30, TimeUnit.SECONDS);
            }
        }
        change(8);
        assertEquals(0, recoveries);
        assertEquals(
                List.of(0L, 1L, 8L),
                onDisk.stream()
                        .map(change -> ((StateChange.RemoveCache) change).id())
                        .toList());
    }

    @Test
    void theStateIsReadAgainUntilThatSucceeds() {
        failure = new StateException("the disk is full");
        unreadable = new StateException("no ZooKeeper answers");
        assertThrows(ControlException.class, () -> change(0));
        failure = null;
        for (int i = 0; i < 2; i++) {
            ControlException refused = assertThrows(ControlException.class, () -> change(1));
            assertEquals(Code.UNAVAILABLE, refused.code());
            assertTrue(refused.getMessage().contains("no ZooKeeper answers"), refused.getMessage());
        }
        unreadable = null;
        change(2);
        assertEquals(1, recoveries);
        assertEquals(List.of(new StateChange.RemoveCache(2)), onDisk);
    }

    @Test
    void whoeverSawAChangeWaitsForItTooAndNobodyElse() throws Exception {
        assertNull(latest());
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> calls = together(threads, 2);
            Future<?> reader = threads.submit(() -> Journal.await(latest()));
            assertThrows(TimeoutException.class, () -> reader.get(50, TimeUnit.MILLISECONDS));
            gate.countDown();
            reader.get(30, TimeUnit.SECONDS);
            assertEquals(2, onDisk.size());
            for (Future<?> call : calls) {
                call.get(30, TimeUnit.SECONDS);
            }
        }
        assertNull(latest());
    }

    private Journal.@Nullable Group latest() {
        lock.lock();
        try {
            return journal.latest();
        } finally {
            lock.unlock();
        }
    }

    /** A change for which no thread waits is written together with the next change for which a thread waits. */
    @Test
    void whatNobodyWaitsForIsWrittenWithTheNext() {
        lock.lock();
        try {
            journal.add(new StateChange.RemoveCache(1));
        } finally {
            lock.unlock();
        }
        assertEquals(List.of(), written);
        change(2);
        assertEquals(List.of(List.of(new StateChange.RemoveCache(1), new StateChange.RemoveCache(2))), written);
    }

    @Test
    void whereNoThreadCanBeStartedTheNextTriesAgain() throws Exception {
        noThreads = true;
        assertThrows(OutOfMemoryError.class, () -> change(1));
        noThreads = false;
        CompletableFuture.runAsync(() -> change(2)).get(30, TimeUnit.SECONDS);
        assertEquals(List.of(new StateChange.RemoveCache(1), new StateChange.RemoveCache(2)), onDisk);
    }

    @Test
    void aManagerThatLeadsNoMoreSaysSo() {
        failure = new StaleEpochException("another one");
        ControlException refused = assertThrows(ControlException.class, () -> change(1));
        assertEquals(Code.UNAVAILABLE, refused.code());
    }

    @Test
    void groupsFitIntoOneWrite() throws Exception {
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> calls = together(threads, 3);
            lock.lock();
            try {
                for (int i = 0; i < 3_000; i++) {
                    journal.add(new StateChange.RemoveCache(i));
                }
            } finally {
                lock.unlock();
            }
            gate.countDown();
            for (Future<?> call : calls) {
                call.get(30, TimeUnit.SECONDS);
            }
            change(9);
        }
        assertEquals(3_004, onDisk.size());
        assertTrue(written.stream().allMatch(group -> group.size() <= 1_000));
        assertEquals(
                onDisk.stream()
                        .map(change -> ((StateChange.RemoveCache) change).id())
                        .toList(),
                written.stream()
                        .flatMap(List::stream)
                        .map(change -> ((StateChange.RemoveCache) change).id())
                        .toList(),
                "in order");
    }
}
