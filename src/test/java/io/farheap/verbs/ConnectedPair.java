package io.farheap.verbs;

import io.farheap.memory.RegisteredMemory;
import io.farheap.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;

/** A queue pair of the clients' device, connected to one of the servers' device, with memory at both ends. */
final class ConnectedPair implements AutoCloseable {

    static final int ALL_ACCESS = Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC;
    static final int DEPTH = 16;
    static final int INLINE_BYTES = 64;
    private static final long TIMEOUT_NANOS = 60_000_000_000L;

    /** One end. */
    static final class End {
        final Context context;
        final ProtectionDomain domain;
        final CompletionQueue completions;
        final QueuePair queuePair;
        final RegisteredMemory memory;

        End(String device, int memoryBytes) {
            context = Devices.open(device);
            domain = context.allocateProtectionDomain();
            completions = context.createCompletionQueue(4 * DEPTH, DEPTH, null);
            queuePair = domain.createQueuePair(completions, DEPTH, INLINE_BYTES);
            memory = RegisteredMemory.allocate(domain, "test-end", memoryBytes, ALL_ACCESS);
        }
    }

    final End client;
    final End server;
    final SendRequests requests;
    /** Further objects that a test opens; they are closed first, in reverse order. */
    private final List<AutoCloseable> more = new ArrayList<>();
    /** The number of the last poll's completions that {@link #await} has returned. */
    private int awaited;

    private int polled;

    private ConnectedPair(String clientDevice, String serverDevice, int memoryBytes) {
        client = new End(clientDevice, memoryBytes);
        server = new End(serverDevice, memoryBytes);
        requests = new SendRequests(4 * DEPTH);
    }

    static ConnectedPair connect(int memoryBytes) {
        return connect(TestDevice.client(), TestDevice.server(), memoryBytes);
    }

    /** Opens a pair that is not connected yet. */
    static ConnectedPair open(String clientDevice, String serverDevice, int memoryBytes) {
        return new ConnectedPair(clientDevice, serverDevice, memoryBytes);
    }

    static ConnectedPair connect(String clientDevice, String serverDevice, int memoryBytes) {
        ConnectedPair pair = open(clientDevice, serverDevice, memoryBytes);
        Endpoint endpoint = pair.client.queuePair.endpoint();
        pair.client.queuePair.connect(pair.server.queuePair.endpoint());
        pair.server.queuePair.connect(endpoint);
        return pair;
    }

    <T extends AutoCloseable> T closing(T resource) {
        more.add(resource);
        return resource;
    }

    /** Prepares a READ or WRITE between the two ends' memory. */
    void prepare(int index, int opcode, int flags, long localOffset, int bytes, long remoteOffset) {
        requests.prepare(
                index,
                opcode,
                flags,
                client.memory.address() + localOffset,
                bytes,
                client.memory.localKey(),
                server.memory.address() + remoteOffset,
                server.memory.remoteKey());
    }

    /** @return errno */
    int post(int index) {
        return client.queuePair.postUnbounded(requests, index);
    }

    /** The status of the next completion at the client's end, which must be of this request. */
    int await(long id) {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (awaited == polled) {
            awaited = 0;
            polled = client.completions.poll();
            if (polled == 0 && System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "no completion of request " + id + " in " + TIMEOUT_NANOS / 1_000_000_000 + " s");
            }
            Thread.yield();
        }
        int next = awaited++;
        if (client.completions.id(next) != id) {
            throw new AssertionError("request " + client.completions.id(next) + " completed, not " + id);
        }
        return client.completions.status(next);
    }

    @Override
    public void close() throws Exception {
        for (AutoCloseable resource : more.reversed()) {
            resource.close();
        }
        for (End end : List.of(client, server)) {
            end.queuePair.close();
            end.completions.close();
            end.memory.close();
            end.domain.close();
            end.context.close();
        }
        requests.close();
    }
}
