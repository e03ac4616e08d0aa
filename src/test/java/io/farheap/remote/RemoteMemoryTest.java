package io.farheap.remote;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.farheap.testing.TestDevice;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What threads do to one process's memory at a time, while queues are used. */
class RemoteMemoryTest {

    private static final int ROUNDS = 2000;
    private static final int QUEUES = 200;

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
        assertEquals(Posting.LOST, queue.fetchAndAdd(region, 0, 1, buffer, 0, 1));
        memory.connectQueues(second);
        memory.connectQueues(second);
        Tags tags = new Tags();
        assertEquals(Posting.OK, queue.fetchAndAdd(region, 0, 7, buffer, 0, 2));
        assertEquals(Posting.OK, queue.fetchAndAdd(region, 0, 1, buffer, 8, 3));
        assertEquals(Posting.OK, queue.fetchAndAdd(first, 0, 1, buffer, 16, 4));
        tags.await(queue, 3);
        assertEquals(7, buffer.segment().get(JAVA_LONG, 8));
        memory.detach(second);
        assertEquals(Posting.LOST, queue.fetchAndAdd(region, 0, 1, buffer, 0, 5));
        assertEquals(Posting.OK, queue.fetchAndAdd(first, 0, 1, buffer, 24, 6));
        tags.await(queue, 4);
        assertEquals(1, buffer.segment().get(JAVA_LONG, 24));
    }

    /** Whoever closes a buffer asks all queues whether they use it, and so waits for a handler that is running. */
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

    /** What one thread frees with its queue, another looks at for its buffer. */
    @Test
    void aQueueIsClosedWhileAnotherThreadClosesBuffers() throws Exception {
        RemoteRegion region =
                memory.allocate(memory.attach(servers.address(0)), 1).getFirst();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        Thread user = Thread.ofPlatform().daemon().start(() -> {
            try (RegisteredBuffer buffer = memory.register(64)) {
                for (int i = 0; i < QUEUES && failure.get() == null; i++) {
                    try (RemoteQueue queue = memory.openQueue(QueueOptions.DEFAULT)) {
                        // Their tags do not come back: the connection has them as it is closed.
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
}
