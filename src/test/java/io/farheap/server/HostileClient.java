package io.farheap.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.farheap.control.RegionGrant;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ConnectedRing;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.control.plane.RingRequest;
import io.farheap.memory.RegisteredMemory;
import io.farheap.rpc.RingShape;
import io.farheap.rpc.message.BatchFormat;
import io.farheap.rpc.message.PayloadCopier;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.WcStatus;
import java.lang.foreign.MemorySegment;

/** A client that writes arbitrary bytes into the server's message ring. */
final class HostileClient implements AutoCloseable {

    static final RingShape SHAPE = new RingShape(4, 32);
    private static final long TIMEOUT_NANOS = TestDevice.patience(30_000_000_000L);

    final ControlPlane server;
    final Lease lease;
    private final RingShape shape;
    /** Null if another client keeps the lease. */
    private final LeaseKeeper keeper;

    private final Context context = Devices.open(TestDevice.client());
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(2, 1, null);
    private final RegisteredMemory message =
            RegisteredMemory.allocate(domain, "test-message", 1 << 20, Access.LOCAL_WRITE);
    private final RegisteredMemory answers =
            RegisteredMemory.allocate(domain, "test-answers", 1 << 20, Access.LOCAL_WRITE | Access.REMOTE_WRITE);
    private final SendRequests requests = new SendRequests(1);
    private QueuePair queuePair;
    private ConnectedRing connected;

    HostileClient(ControlPlane server) {
        this(server, SHAPE);
    }

    /** @param shape with rings of a megabyte at most */
    HostileClient(ControlPlane server, RingShape shape) {
        this.server = server;
        this.shape = shape;
        lease = server.openLease("hostile");
        keeper = new LeaseKeeper(server, lease, (lost, cause) -> {});
        connect(0);
    }

    /** Another connection under the same lease. */
    HostileClient(HostileClient other) {
        server = other.server;
        shape = other.shape;
        lease = other.lease;
        keeper = null;
        connect(0);
    }

    /**
     * A new connection.
     *
     * @param responseOffset the error of the address of its own ring, in bytes
     */
    void connect(long responseOffset) {
        if (queuePair != null) {
            queuePair.close();
        }
        queuePair = domain.createQueuePair(completions, 2, 0);
        connected = server.connectRing(
                lease.id(),
                new RingRequest(
                        queuePair.endpoint(),
                        shape.queueDepth(),
                        shape.batch(),
                        shape.recordBytes(),
                        shape.calls(),
                        1,
                        answers.address() + responseOffset,
                        answers.remoteKey()));
        queuePair.connect(connected.server());
    }

    /** The message that {@link #send} writes to a slot; offsets are those of {@link BatchFormat}. */
    MemorySegment message() {
        return message.segment();
    }

    /**
     * Puts one request after a header, and the payload of a write.
     *
     * @return the bytes so far
     */
    int put(int at, int operation, int region, int length, long offset, int payload) {
        message().set(JAVA_LONG, at, BatchFormat.request(operation, region, length));
        message().set(JAVA_LONG, at + 8, offset);
        message().asSlice(at + 16, payload).fill((byte) 0x55);
        return at + BatchFormat.REQUEST_BYTES + payload;
    }

    /** Puts a header with a checksum that is right for requests as the server reads them. */
    void seal(long sequence, int bytes, int count, int flags) {
        long hash = BatchFormat.start();
        int at = BatchFormat.HEADER_BYTES;
        for (int i = 0; i < count && at + BatchFormat.REQUEST_BYTES <= message().byteSize(); i++) {
            long request = message().get(JAVA_LONG, at);
            hash = BatchFormat.mix(hash, request, message().get(JAVA_LONG, at + 8));
            at += BatchFormat.REQUEST_BYTES;
            int length = BatchFormat.length(request);
            if (BatchFormat.operation(request) >= BatchFormat.WRITE
                    && at + BatchFormat.padded(length) <= message().byteSize()) {
                hash = PayloadCopier.hash(message.address() + at, length, hash);
                at += BatchFormat.padded(length);
            }
        }
        BatchFormat.header(message(), 0, sequence, BatchFormat.summary(bytes, count, flags), hash);
    }

    /**
     * Writes the message to the slot of batch 1.
     *
     * @return one of {@link WcStatus}
     */
    int send() {
        return send(1);
    }

    /** Writes the message to the slot of this batch. */
    int send(long sequence) {
        return write(
                RingShape.CONTROL_BYTES + sequence % shape.slots() * shape.requestSlotBytes(),
                shape.requestSlotBytes());
    }

    /** Writes the message anywhere in the ring. */
    int write(long where, int bytes) {
        requests.prepare(
                0,
                SendRequests.WRITE,
                SendRequests.SIGNALED,
                message.address(),
                bytes,
                message.localKey(),
                connected.ringAddress() + where,
                connected.ringKey());
        return run();
    }

    /** Reads a region's beginning into the message. */
    int read(RegionGrant region, int bytes) {
        requests.prepare(
                0,
                SendRequests.READ,
                SendRequests.SIGNALED,
                message.address(),
                bytes,
                message.localKey(),
                region.remoteAddress(),
                region.rkey());
        return run();
    }

    private int run() {
        if (queuePair.postUnbounded(requests, 0) != 0) {
            return WcStatus.WR_FLUSH_ERR;
        }
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (completions.poll() == 0) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("no completion in " + TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            Thread.yield();
        }
        return completions.status(0);
    }

    /** Whether the server has answered batch 1. */
    boolean answered() {
        return answered(1);
    }

    boolean answered(long sequence) {
        return BatchFormat.sequence(
                        answers.segment(),
                        RingShape.CONTROL_BYTES + sequence % shape.slots() * shape.responseSlotBytes())
                == sequence;
    }

    /** Returns when the server has ended the connection. */
    void awaitEnd() throws InterruptedException {
        long deadline = System.nanoTime() + TIMEOUT_NANOS;
        while (write(0, 8) == WcStatus.SUCCESS) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError(
                        "the connection is still there after " + TIMEOUT_NANOS / 1_000_000_000L + " s");
            }
            Thread.sleep(20);
        }
    }

    @Override
    public void close() {
        queuePair.close();
        if (keeper != null) {
            keeper.close();
            server.closeLease(lease.id());
        }
        requests.close();
        answers.close();
        message.close();
        completions.close();
        domain.close();
        context.close();
    }
}
