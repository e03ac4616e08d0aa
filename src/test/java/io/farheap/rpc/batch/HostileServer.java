package io.farheap.rpc.batch;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.junit.jupiter.api.Assertions.assertEquals;

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
import java.lang.foreign.MemorySegment;

/** A server, with its client, that reads no request and writes into the client's ring whatever a test sets. */
final class HostileServer implements AutoCloseable {

    static final int DESTINATION_BYTES = 4096;

    private final RingShape shape;
    private final Context context = Devices.open(TestDevice.client());
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(4, 1, null);
    private final QueuePair queuePair = domain.createQueuePair(completions, 2, 0);
    private final SendRequests requests = new SendRequests(1);
    private final RegisteredMemory ring;
    private final RegisteredMemory answer;
    private final RegisteredMemory destination =
            RegisteredMemory.allocate(domain, "test-destination", DESTINATION_BYTES, Access.LOCAL_WRITE);
    final BatchConnection client;

    HostileServer(RingShape shape) {
        this.shape = shape;
        ring = RegisteredMemory.allocate(
                domain, "test-ring", shape.requestRingBytes(), Access.LOCAL_WRITE | Access.REMOTE_WRITE);
        answer = RegisteredMemory.allocate(domain, "test-answer", shape.responseSlotBytes(), Access.LOCAL_WRITE);
        client = new BatchConnection(context, null, shape, 0);
        queuePair.connect(client.endpoint());
        client.connect(queuePair.endpoint(), ring.address(), ring.remoteKey());
    }

    /** The answer that {@link #send(long)} writes. */
    MemorySegment message() {
        return answer.segment();
    }

    long messageAddress() {
        return answer.address();
    }

    /** The memory into which reads of the client may go. */
    MemorySegment destination() {
        return destination.segment();
    }

    long destinationAddress() {
        return destination.address();
    }

    /** Writes the header of a valid answer for the message: payloads of these lengths, and nothing after them. */
    void seal(long sequence, int... lengths) {
        int at = BatchFormat.HEADER_BYTES;
        long hash = BatchFormat.start();
        for (int length : lengths) {
            hash = PayloadCopier.hash(answer.address() + at, length, hash);
            at += BatchFormat.padded(length);
        }
        BatchFormat.header(message(), 0, sequence, BatchFormat.summary(at, lengths.length, 0), hash);
    }

    /** Writes some bytes of the message to the slot of a batch, and returns when they are there. */
    void send(long sequence, int from, int bytes) {
        write(
                SendRequests.WRITE,
                from,
                bytes,
                RingShape.CONTROL_BYTES + sequence % shape.slots() * shape.responseSlotBytes() + from);
    }

    /** As {@link #send(long, int, int)} with all of it. */
    void send(long sequence) {
        send(sequence, 0, shape.responseSlotBytes());
    }

    /** Wakes the client without an answer. */
    void wake() {
        write(SendRequests.WRITE_WITH_IMMEDIATE, 0, Long.BYTES, 0);
    }

    private void write(int opcode, int from, int bytes, long to) {
        requests.prepare(
                0,
                opcode,
                SendRequests.SIGNALED,
                answer.address() + from,
                bytes,
                answer.localKey(),
                client.responseAddress() + to,
                client.responseKey());
        assertEquals(0, queuePair.postUnbounded(requests, 0));
        while (completions.poll() == 0) {
            Thread.onSpinWait();
        }
        assertEquals(0, completions.status(0));
    }

    /** Ends the connection at the server's end. */
    void disconnect() {
        queuePair.close();
    }

    /** Fills words of the message with one value. */
    void fill(int from, int bytes, long value) {
        for (int at = from; at < from + bytes; at += Long.BYTES) {
            message().set(JAVA_LONG, at, value);
        }
    }

    @Override
    public void close() {
        client.close();
        queuePair.close();
        requests.close();
        answer.close();
        ring.close();
        destination.close();
        completions.close();
        domain.close();
        context.close();
    }
}
