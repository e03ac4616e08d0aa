package io.farheap.verbs;

import io.farheap.memory.RegisteredMemory;
import java.util.List;

/** Two connected queue pairs of this process, with memory, and prepared requests between them. */
final class LoopbackPair implements AutoCloseable {

    static final int DEPTH = 16;
    static final int MEMORY_BYTES = 1 << 20;
    private static final int INLINE_BYTES = 172;

    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    /** Nothing ever completes here. */
    final CompletionQueue idle;

    private final QueuePair initiator;
    private final QueuePair target;
    private final RegisteredMemory local;
    private final RegisteredMemory remote;
    /** Each stands alone. */
    final SendRequests separate;
    /** One list. */
    final SendRequests list;

    LoopbackPair() {
        VerbsLibrary.choose(VerbsLibrary.AUTO);
        context = Devices.open();
        separate = new SendRequests(DEPTH);
        list = new SendRequests(DEPTH);
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(2 * DEPTH, DEPTH, null);
        idle = context.createCompletionQueue(DEPTH, DEPTH, null);
        initiator = domain.createQueuePair(completions, DEPTH, INLINE_BYTES);
        target = domain.createQueuePair(idle, DEPTH, INLINE_BYTES);
        Endpoint endpoint = initiator.endpoint();
        initiator.connect(target.endpoint());
        target.connect(endpoint);
        local = RegisteredMemory.allocate(domain, "jmh-local", MEMORY_BYTES, Access.LOCAL_WRITE);
        remote = RegisteredMemory.allocate(
                domain,
                "jmh-remote",
                MEMORY_BYTES,
                Access.LOCAL_WRITE | Access.REMOTE_READ | Access.REMOTE_WRITE | Access.REMOTE_ATOMIC);
    }

    @Override
    public void close() {
        initiator.close();
        target.close();
        separate.close();
        list.close();
        completions.close();
        idle.close();
        local.close();
        remote.close();
        domain.close();
        context.close();
    }

    /** Prepares all requests, at adjacent places of both memories. */
    void prepare(int opcode, int bytes) {
        int flags = SendRequests.SIGNALED
                | (opcode == SendRequests.WRITE && bytes <= initiator.inlineBytes() ? SendRequests.INLINE : 0);
        for (SendRequests requests : List.of(separate, list)) {
            for (int i = 0; i < DEPTH; i++) {
                long offset = (long) i * Math.max(bytes, 64);
                requests.prepare(
                        i,
                        opcode,
                        flags,
                        local.address() + offset,
                        bytes,
                        local.localKey(),
                        remote.address() + offset,
                        remote.remoteKey());
            }
        }
        for (int i = 0; i + 1 < DEPTH; i++) {
            list.link(i, i + 1);
        }
    }

    /** Polls until {@code count} operations have completed well. */
    void await(int count) {
        for (int done = 0; done < count; ) {
            int polled = completions.poll();
            for (int i = 0; i < polled; i++) {
                if (completions.status(i) != 0) {
                    throw new VerbsException("an operation ended with " + WcStatus.describe(completions.status(i)));
                }
            }
            done += polled;
        }
    }

    /** @param bytes of all the list */
    void post(SendRequests requests, int first, int bytes) {
        int error = initiator.post(requests, first, bytes);
        if (error != 0) {
            throw new VerbsException("the device refused a request", error);
        }
    }
}
