package io.farheap.rpc.batch;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.rpc.HeldRegions;
import io.farheap.rpc.MessageRing;
import io.farheap.rpc.RegionHolders;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.RpcHandlers;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.CompletionChannel;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A message ring and its client, of one thread, which the test makes look at each. */
final class ConnectedRing implements AutoCloseable {

    static final int LOOKS = 1_000_000;

    private final Arena arena = Arena.ofConfined();
    private final Context context = Devices.open(TestDevice.client());
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionChannel channel = context.createCompletionChannel();
    /** 4 KiB for arguments and results. */
    final MemorySegment memory = arena.allocate(4096, 64);

    final BatchConnection client;
    final MessageRing ring;

    /** @param handlers may be registered later */
    ConnectedRing(RingShape shape, RpcHandlers handlers) {
        client = new BatchConnection(context, null, shape, 64);
        ring = new MessageRing(
                context,
                domain,
                new HeldRegions(new RegionHolders(memory, 4096, 1), 1, "test"),
                handlers,
                shape,
                channel,
                () -> {},
                client.responseAddress(),
                client.responseKey());
        // Each side's first operation needs the other's end.
        ring.connect(client.endpoint());
        client.connect(ring.endpoint(), ring.address(), ring.remoteKey());
    }

    /** Adds a call of 8 bytes with a result of 8 bytes to the client's batch. */
    void call(int operation) {
        client.addCall(operation, memory.address(), 8, memory.address() + 8, 8);
    }

    /** Sends the client's batch, and serves what the ring serves of it at once. */
    void sendAndServe(int looks) {
        assertTrue(client.send());
        for (int i = 0; ring.serve() == 0; i++) {
            assertTrue(i < looks, "the batch does not come");
        }
    }

    @Override
    public void close() {
        client.close();
        ring.close();
        channel.close();
        domain.close();
        context.close();
        arena.close();
    }
}
