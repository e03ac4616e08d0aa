package io.farheap.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.farheap.memory.RegisteredMemory;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A post that may copy much is an ordinary call, which safepoints do not wait for, however small each payload is. */
class CriticalCallsTest {

    private static final int DEPTH = 64;
    private static final int BYTES = 1 << 20;

    private final Context context = Devices.open(TestDevice.client());
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(2 * DEPTH + 8, DEPTH, null);
    private final RegisteredMemory memory = RegisteredMemory.allocate(
            domain, "test-critical", 2L * BYTES, Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE);
    private final long remote = memory.address() + BYTES;
    private final QueuePair server = domain.createQueuePair(completions, 1, 0);
    private Connection client;

    @BeforeEach
    void needsBoundedPosts() {
        assumeTrue(context.postsAreBounded(), "this device's posts are ordinary calls, all of them");
    }

    @AfterEach
    void close() {
        if (client != null) {
            client.close();
        }
        server.close();
        memory.close();
        completions.close();
        domain.close();
        context.close();
    }

    @ParameterizedTest(name = "{0} x {1} bytes: {2} ordinary calls")
    @CsvSource({
        "1,16384,0",
        "1,16385,1",
        "16,1024,0",
        "16,1025,1",
        "17,1024,1",
        "16,16384,1",
        "64,16384,1",
        "2,8192,0",
        "2,16384,1"
    })
    void aListByAllThatItMoves(int count, int bytes, int ordinary) {
        connect(DEPTH);
        for (boolean write : new boolean[] {false, true}) {
            long before = client.ordinaryPosts();
            for (int i = 0; i < count; i++) {
                client.list(write, i, memory.address(), memory.localKey(), remote, memory.remoteKey(), bytes);
            }
            assertEquals(0, client.postList());
            await(count);
            assertEquals(ordinary, client.ordinaryPosts() - before, write ? "writes" : "reads");
        }
    }

    /** The bytes of one list must not count for the next list. */
    @Test
    void aListBehindALargeOne() {
        connect(4);
        for (int bytes : new int[] {16384, 64, 8192, 64}) {
            long before = client.ordinaryPosts();
            for (int i = 0; i < 4; i++) {
                assertEquals(0, client.read(i, memory.address(), memory.localKey(), remote, memory.remoteKey(), bytes));
            }
            await(4);
            assertEquals(bytes > 4096 ? 1 : 0, client.ordinaryPosts() - before, bytes + " bytes");
        }
    }

    @Test
    void oneByItsSize() {
        connect(1);
        for (int bytes : new int[] {8, 16384, 16385, BYTES}) {
            long before = client.ordinaryPosts();
            assertEquals(0, client.write(0, memory.address(), memory.localKey(), remote, memory.remoteKey(), bytes));
            await(1);
            assertEquals(bytes > 16384 ? 1 : 0, client.ordinaryPosts() - before, bytes + " bytes");
        }
    }

    private void connect(int listLimit) {
        client = Connection.create(domain, completions, 0, DEPTH, 0, listLimit);
        server.connect(client.endpoint());
        client.connect(server.endpoint());
        // A device that maps memory on first use does so now.
        assertEquals(0, client.flush(memory.address(), memory.localKey(), remote, memory.remoteKey()));
        while (client.flushing()) {
            await(0);
        }
    }

    private void await(int operations) {
        int ended = 0;
        do {
            int polled = completions.poll();
            for (int i = 0; i < polled; i++) {
                assertEquals(0, completions.status(i));
                int with = client.complete(completions.id(i), 0);
                for (int n = 0; n < with; n++) {
                    client.take(completions.id(i));
                }
                ended += with;
            }
            Thread.onSpinWait();
        } while (ended < operations);
    }
}
