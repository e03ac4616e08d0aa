package io.farheap.server;

import io.farheap.control.RegionGrant;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.RingRequest;
import io.farheap.memory.RegisteredMemory;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.batch.BatchConnection;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Access;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import java.lang.foreign.MemorySegment;

/** A client with one lease, one pair of message rings, and memory to read into and write from. */
final class BatchClient implements AutoCloseable {

    private static final long TIMEOUT_NANOS = TestDevice.patience(20_000_000_000L);
    static final int MEMORY_BYTES = 1 << 20;

    final ControlPlane server;
    final Lease lease;
    private final LeaseKeeper keeper;
    private final Context context = Devices.open(TestDevice.client());
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final RegisteredMemory memory =
            RegisteredMemory.allocate(domain, "test-memory", MEMORY_BYTES, Access.LOCAL_WRITE);
    final BatchConnection batches;
    final ConnectedRing connected;

    BatchClient(ControlPlane server, RingShape shape, int threads) {
        this.server = server;
        lease = server.openLease("batch-test");
        keeper = new LeaseKeeper(server, lease, (lost, cause) -> {});
        batches = new BatchConnection(context, null, shape, 64);
        connected = server.connectRing(
                lease.id(),
                new RingRequest(
                        batches.endpoint(),
                        shape.queueDepth(),
                        shape.batch(),
                        threads,
                        batches.responseAddress(),
                        batches.responseKey()));
        batches.connect(connected.server(), connected.ringAddress(), connected.ringKey());
    }

    RegionGrant allocate() {
        return server.allocate(lease.id(), 1).getFirst();
    }

    MemorySegment memory() {
        return memory.segment();
    }

    long address() {
        return memory.address();
    }

    /** Sends the open batch, and returns when all requests are answered. */
    void drain() {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (!batches.send() || batches.unanswered() > 0) {
            batches.receive();
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("no answer in " + TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            Thread.yield();
        }
    }

    /**
     * Finishes all entries that are answered.
     *
     * @return the last one's status; 0 for success
     */
    int finishAll() {
        int status = 0;
        while (batches.ready() > 0) {
            status = batches.succeeded() ? 0 : batches.status(batches.head());
            batches.finish(1);
        }
        return status;
    }

    /**
     * One read of any length, alone in its batch.
     *
     * @return its status
     */
    int read(int region, long offset, int bytes, long at) {
        batches.addRead(region, offset, bytes, address() + at);
        drain();
        return finishAll();
    }

    int write(int region, long offset, int bytes, long at) {
        batches.addWrite(region, offset, bytes, address() + at);
        drain();
        return finishAll();
    }

    @Override
    public void close() {
        batches.close();
        keeper.close();
        server.closeLease(lease.id());
        memory.close();
        domain.close();
        context.close();
    }
}
