package io.farheap.verbs;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.memory.RegisteredMemory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two queue pairs of one process, connected to each other. */
class LoopbackTest {

    private static final int ALL_ACCESS =
            Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC;

    private Context context;
    private ProtectionDomain domain;
    private CompletionQueue completions;
    private QueuePair queuePair;
    private QueuePair peer;
    private RegisteredMemory local;
    private RegisteredMemory remote;
    private SendRequests requests;

    @BeforeEach
    void connect() {
        context = Devices.open();
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(64, 16, null);
        queuePair = domain.createQueuePair(completions, 16, 64);
        peer = domain.createQueuePair(completions, 16, 0);
        Endpoint endpoint = queuePair.endpoint();
        queuePair.connect(peer.endpoint());
        peer.connect(endpoint);
        local = RegisteredMemory.allocate(domain, "test-local", 1 << 20, Access.LOCAL_WRITE);
        remote = RegisteredMemory.allocate(domain, "test-remote", 1 << 20, ALL_ACCESS);
        requests = new SendRequests(16);
    }

    @AfterEach
    void close() {
        requests.close();
        queuePair.close();
        peer.close();
        completions.close();
        local.close();
        remote.close();
        domain.close();
        context.close();
    }

    @Test
    void writesAndReadsBack() {
        for (int bytes : new int[] {8, 64, 4096, 65536, 1 << 20}) {
            for (long i = 0; i < bytes; i += 8) {
                local.segment().set(JAVA_LONG, i, i * 31 + bytes);
            }
            prepare(
                    0,
                    SendRequests.WRITE,
                    SendRequests.SIGNALED | (bytes <= 64 ? SendRequests.INLINE : 0),
                    0,
                    bytes,
                    0);
            assertEquals(0, queuePair.post(requests, 0, bytes));
            assertEquals(WcStatus.SUCCESS, await(0));
            assertEquals(
                    -1,
                    local.segment().asSlice(0, bytes).mismatch(remote.segment().asSlice(0, bytes)),
                    bytes + " bytes");

            local.segment().fill((byte) 0);
            prepare(1, SendRequests.READ, SendRequests.SIGNALED, 0, bytes, 0);
            assertEquals(0, queuePair.post(requests, 1, bytes));
            assertEquals(WcStatus.SUCCESS, await(1));
            assertEquals(
                    -1,
                    local.segment().asSlice(0, bytes).mismatch(remote.segment().asSlice(0, bytes)),
                    bytes + " bytes");
        }
    }

    @Test
    void atomicsReturnTheOldValue() {
        remote.segment().set(JAVA_LONG, 64, 40);
        requests.prepareAtomic(
                0,
                SendRequests.FETCH_AND_ADD,
                SendRequests.SIGNALED,
                local.address(),
                local.localKey(),
                remote.address() + 64,
                remote.remoteKey(),
                2,
                0);
        assertEquals(0, queuePair.post(requests, 0, 8));
        assertEquals(WcStatus.SUCCESS, await(0));
        assertEquals(40, local.segment().get(JAVA_LONG, 0));
        requests.prepareAtomic(
                1,
                SendRequests.COMPARE_AND_SWAP,
                SendRequests.SIGNALED,
                local.address(),
                local.localKey(),
                remote.address() + 64,
                remote.remoteKey(),
                42,
                7);
        assertEquals(0, queuePair.post(requests, 1, 8));
        assertEquals(WcStatus.SUCCESS, await(1));
        assertEquals(42, local.segment().get(JAVA_LONG, 0));
        assertEquals(7, remote.segment().get(JAVA_LONG, 64));
    }

    @Test
    void oneOperationRunsFromPostToCompletion() {
        try (OneOperation one = queuePair.oneOperation(7, 64, 1_000_000)) {
            local.segment().set(JAVA_LONG, 0, 42);
            assertEquals(
                    OneOperation.COMPLETED,
                    one.run(true, local.address(), local.localKey(), remote.address(), remote.remoteKey(), 8));
            assertEquals(42, remote.segment().get(JAVA_LONG, 0));
            assertEquals(
                    OneOperation.COMPLETED,
                    one.run(false, local.address() + 8, local.localKey(), remote.address(), remote.remoteKey(), 8));
            assertEquals(42, local.segment().get(JAVA_LONG, 8));
        }
    }

    @Test
    void oneOperationDoesNotTakeAnothersCompletionForItsOwn() {
        try (OneOperation one = queuePair.oneOperation(7, 64, 1_000_000)) {
            prepare(3, SendRequests.WRITE, SendRequests.SIGNALED, 0, 8, 0);
            assertEquals(0, queuePair.post(requests, 3, 8));
            assertEquals(
                    OneOperation.OTHER_COMPLETION,
                    one.run(false, local.address() + 8, local.localKey(), remote.address(), remote.remoteKey(), 8));
            assertEquals(3, completions.id(0));
            assertEquals(WcStatus.SUCCESS, completions.status(0));
            assertEquals(WcStatus.SUCCESS, await(7));
        }
    }

    @Test
    void aListIsOnePostAndUnsignaledRequestsHaveNoCompletion() {
        for (int i = 0; i < 16; i++) {
            local.segment().set(JAVA_LONG, i * 8L, 100 + i);
            prepare(i, SendRequests.WRITE, i == 15 ? SendRequests.SIGNALED : 0, i * 8L, 8, i * 8L);
        }
        for (int i = 0; i < 15; i++) {
            requests.link(i, i + 1);
        }
        assertEquals(0, queuePair.post(requests, 0, 8));
        assertEquals(WcStatus.SUCCESS, await(15));
        assertEquals(0, completions.poll());
        for (int i = 0; i < 16; i++) {
            assertEquals(100 + i, remote.segment().get(JAVA_LONG, i * 8L));
        }
    }

    @Test
    void aBadRemoteKeyEndsInRemoteAccessErrorAndFlushes() {
        requests.prepare(
                0,
                SendRequests.READ,
                SendRequests.SIGNALED,
                local.address(),
                8,
                local.localKey(),
                remote.address(),
                remote.remoteKey() ^ 0x5A5A5A);
        assertEquals(0, queuePair.post(requests, 0, 8));
        assertEquals(WcStatus.REM_ACCESS_ERR, await(0));
        assertTrue(queuePair.failed());
        prepare(1, SendRequests.READ, SendRequests.SIGNALED, 0, 8, 0);
        assertEquals(0, queuePair.post(requests, 1, 8));
        assertEquals(WcStatus.WR_FLUSH_ERR, await(1));
    }

    @Test
    void aClosedQueuePairIsRefusedBeforeNativeCode() {
        queuePair.close();
        prepare(0, SendRequests.READ, SendRequests.SIGNALED, 0, 8, 0);
        assertThrows(IllegalStateException.class, () -> queuePair.post(requests, 0, 8));
    }

    @Test
    void parentsOutliveTheirChildren() {
        String message =
                assertThrows(IllegalStateException.class, domain::close).getMessage();
        assertTrue(message.contains("still used by 4"), message);
        assertThrows(IllegalStateException.class, context::close);
        assertThrows(IllegalStateException.class, completions::close);
    }

    @Test
    void registrationRefusesTheHeap() {
        assertThrows(
                IllegalArgumentException.class,
                () -> domain.register(java.lang.foreign.MemorySegment.ofArray(new long[1]), Access.LOCAL_WRITE));
    }

    private void prepare(int index, int opcode, int flags, long localOffset, int bytes, long remoteOffset) {
        requests.prepare(
                index,
                opcode,
                flags,
                local.address() + localOffset,
                bytes,
                local.localKey(),
                remote.address() + remoteOffset,
                remote.remoteKey());
    }

    private int await(long id) {
        long deadline = System.nanoTime() + 60_000_000_000L;
        while (System.nanoTime() - deadline < 0) {
            int polled = completions.poll();
            if (polled > 0) {
                assertEquals(1, polled);
                assertEquals(id, completions.id(0));
                return completions.status(0);
            }
        }
        throw new AssertionError("no completion of request " + id + " in 60 s");
    }
}
