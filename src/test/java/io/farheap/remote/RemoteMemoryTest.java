package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.ControlException;
import io.farheap.control.grpc.ControlServer;
import io.farheap.remote.contract.PostResult;
import io.farheap.remote.contract.RemoteRegion;
import io.farheap.remote.contract.RemoteServer;
import io.farheap.remote.server.ServerLinks;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.Effort;
import io.farheap.testing.Fields;
import io.farheap.testing.TestDevice;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.AbstractOwnableSynchronizer;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several threads change the memory of one process at the same time, while queues are used. */
class RemoteMemoryTest {

    private static final int ROUNDS = Effort.count(2_000);
    private static final int QUEUES = Effort.either(60, 200);
    private static final long REGION_BYTES = 1 << 20;
    private static final long LEASE_NANOS = TestDevice.patience(1_000_000_000L);
    private static final int CLOSINGS = Effort.count(20);

    private TestServers servers;
    private RemoteMemory memory;

    @BeforeEach
    void open() {
        servers = new TestServers(1, 1);
        memory = RemoteMemory.open(TestDevice.client(), "test");
    }

    @AfterEach
    void close() {
        memory.close();
        servers.close();
    }

    @Test
    void queuesThatAreOpenReachAServerThatComesLater() {
        RemoteRegion first =
                memory.allocate(memory.attach(servers.address(0)), 1).getFirst();
        RegisteredBuffer buffer = memory.register(64);
        RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
        RemoteServer second = memory.attach(servers.address(1));
        RemoteRegion region = memory.allocate(second, 1).getFirst();
        assertEquals(PostResult.LOST, queue.fetchAndAdd(region, 0, 1, buffer, 0, 1));
        memory.connectQueues(second);
        memory.connectQueues(second);
        Tags tags = new Tags();
        assertEquals(PostResult.OK, queue.fetchAndAdd(region, 0, 7, buffer, 0, 2));
        assertEquals(PostResult.OK, queue.fetchAndAdd(region, 0, 1, buffer, 8, 3));
        assertEquals(PostResult.OK, queue.fetchAndAdd(first, 0, 1, buffer, 16, 4));
        tags.await(queue, 3);
        assertEquals(7, buffer.segment().get(JAVA_LONG, 8));
        memory.detach(second);
        assertEquals(PostResult.LOST, queue.fetchAndAdd(region, 0, 1, buffer, 0, 5));
        assertEquals(PostResult.OK, queue.fetchAndAdd(first, 0, 1, buffer, 24, 6));
        tags.await(queue, 4);
        assertEquals(1, buffer.segment().get(JAVA_LONG, 24));
    }

    /** What it drops must not be used any more once others may hear that the server is lost. */
    @Test
    void aServerIsAbandonedOnceTheListenerHasReturned() throws Exception {
        CompletableFuture<Boolean> abandoned = new CompletableFuture<>();
        try (MemoryServer server = MemoryServer.open(
                        new ServerOptions(REGION_BYTES, REGION_BYTES, LEASE_NANOS, TestDevice.server(), "lost"));
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(server));
                RemoteMemory other = RemoteMemory.open(
                        TestDevice.client(), "test", lost -> abandoned.complete(lost.isAbandoned()))) {
            RemoteServer leased = other.attach(control.address());
            control.close();
            assertFalse(abandoned.get(TestDevice.patience(60), TimeUnit.SECONDS));
            long deadline = System.nanoTime() + TestDevice.patience(60_000_000_000L);
            while (!leased.isAbandoned()) {
                assertTrue(System.nanoTime() - deadline < 0, "it is never abandoned");
                LockSupport.parkNanos(100_000);
            }
        }
    }

    /** Queues and sessions have an entry for each index, so a server that refuses must not take one for good. */
    @Test
    void attachmentsThatFailTakeNoIndex() {
        RemoteServer first = memory.attach(servers.address(0));
        for (int i = 0; i < 3; i++) {
            assertThrows(ControlException.class, () -> memory.attach("127.0.0.1:1"));
        }
        RemoteServer second = memory.attach(servers.address(1));
        assertEquals(1, Math.abs(second.index() - first.index()));
    }

    /** The tag of an ended operation must still be returned although its connection is closed. */
    @Test
    void buffersAreClosedWhileAQueueHasNotBeenPolledSinceItsServerWasDetached() {
        RemoteServer server = memory.attach(servers.address(0));
        RemoteRegion region = memory.allocate(server, 1).getFirst();
        RegisteredBuffer used = memory.register(64);
        RegisteredBuffer other = memory.register(64);
        try (RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT)) {
            assertEquals(PostResult.OK, queue.fetchAndAdd(region, 0, 1, used, 0, 1));
            memory.detach(server);
            other.close();
            assertThrows(IllegalStateException.class, used::close);
            new Tags().await(queue, 1);
            used.close();
        }
    }

    /** A thread that closes a buffer asks each queue whether it uses the buffer, and so waits for a running handler. */
    @Test
    void aHandlerRegistersMemoryWhileAnotherThreadClosesSome() throws Exception {
        RemoteRegion region =
                memory.allocate(memory.attach(servers.address(0)), 1).getFirst();
        RegisteredBuffer buffer = memory.register(64);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread user = Thread.ofPlatform().daemon().start(() -> {
            try (RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT)) {
                for (int i = 0; i < ROUNDS; i++) {
                    RegisteredBuffer[] made = new RegisteredBuffer[1];
                    queue.read(region, 0, buffer, 0, 8, i);
                    while (queue.poll((tag, outcome) -> made[0] = memory.register(64)) == 0) {
                        Thread.onSpinWait();
                    }
                    made[0].close();
                }
            } catch (Throwable e) {
                failure.set(e);
            }
        });
        Thread closer = Thread.ofPlatform().daemon().start(() -> {
            while (user.isAlive()) {
                memory.register(64).close();
            }
        });
        closer.join(TestDevice.patience(60_000));
        assertFalse(closer.isAlive(), "the two wait for each other");
        assertFalse(user.isAlive());
        assertNull(failure.get());
    }

    /** One thread frees the operations of its queue while another looks at them before it closes a buffer. */
    @Test
    void aQueueIsClosedWhileAnotherThreadClosesBuffers() throws Exception {
        RemoteRegion region =
                memory.allocate(memory.attach(servers.address(0)), 1).getFirst();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread user = Thread.ofPlatform().daemon().start(() -> {
            try (RegisteredBuffer buffer = memory.register(64)) {
                for (int i = 0; i < QUEUES && failure.get() == null; i++) {
                    try (RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT)) {
                        // Their tags are not returned: the connection still has them when it is closed.
                        for (int read = 0; read < 8; read++) {
                            queue.read(region, 0, buffer, 8 * read, 8, read);
                        }
                    }
                }
            } catch (Throwable e) {
                failure.compareAndSet(null, e);
            }
        });
        try {
            while (user.isAlive()) {
                memory.register(64).close();
            }
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
        user.join();
        assertNull(failure.get());
    }

    /** The queue's close waits for a change of its links by another thread, and the memory's close for both. */
    @Test
    void theMemoryIsClosedWhileAnotherThreadFreesAQueue() throws Exception {
        RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT);
        RemoteServer server = memory.attach(servers.address(0));
        CountDownLatch changes = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        ServerLinks<?> links = Fields.get(queue.links(), "links", ServerLinks.class);
        Attempt change = new Attempt(() -> links.ensure(server, () -> {
            changes.countDown();
            awaitQuietly(goesOn);
        }));
        awaitQuietly(changes);
        Attempt first = new Attempt(queue::close);
        first.awaitLocking();
        Attempt second = new Attempt(memory::close);
        second.awaitLocking();
        goesOn.countDown();
        change.succeeds();
        first.succeeds();
        second.succeeds();
    }

    /** Each round closes the memory at another moment of the other thread's operation. */
    @ParameterizedTest
    @ValueSource(strings = {"openQueue", "closeQueue", "closeBuffer", "attach", "detach"})
    void theMemoryIsClosedWhileAnotherThreadUsesIt(String what) throws Exception {
        for (int round = 0; round < CLOSINGS; round++) {
            RemoteMemory closing = RemoteMemory.open(TestDevice.client(), "closing");
            RemoteServer server = closing.attach(servers.address(0));
            RemoteQueue queue = closing.openQueue(QueueOptions.DEFAULT);
            RegisteredBuffer buffer = closing.register(64);
            CyclicBarrier together = new CyclicBarrier(2);
            Attempt use = new Attempt(() -> {
                together.await();
                switch (what) {
                    case "openQueue" -> unlessClosed(() -> closing.openQueue(QueueOptions.DEFAULT));
                    case "closeQueue" -> queue.close();
                    case "closeBuffer" -> buffer.close();
                    case "attach" -> unlessClosed(() -> closing.attach(servers.address(1)));
                    default -> closing.detach(server);
                }
            });
            int delayMicros = 1_800 / CLOSINGS * round;
            Attempt close = new Attempt(() -> {
                together.await();
                LockSupport.parkNanos(delayMicros * 1_000L);
                closing.close();
            });
            use.succeeds();
            close.succeeds();
        }
    }

    private static void unlessClosed(Runnable action) {
        try {
            action.run();
        } catch (IllegalStateException e) {
            assertEquals("this remote memory is closed", e.getMessage());
        }
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertTrue(latch.await(TestDevice.patience(60_000), TimeUnit.MILLISECONDS));
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    /** An action on a thread of its own. */
    private static final class Attempt {

        private final AtomicReference<Throwable> failure = new AtomicReference<>();
        private final Thread thread;

        Attempt(Action action) {
            thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    action.run();
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
        }

        /** Returns when the thread waits for a lock, or has ended. */
        void awaitLocking() throws InterruptedException {
            while (thread.isAlive() && !(LockSupport.getBlocker(thread) instanceof AbstractOwnableSynchronizer)) {
                Thread.sleep(1);
            }
        }

        void succeeds() throws Exception {
            thread.join(TestDevice.patience(60_000));
            assertFalse(thread.isAlive());
            if (failure.get() != null) {
                throw new AssertionError(failure.get());
            }
        }
    }
}
