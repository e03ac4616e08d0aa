package io.farheap.bench.peers;

import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.lifetime.CloseStack;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.RawLoop;
import io.farheap.verbs.SendRequests;

/**
 * The C loop of {@code bench raw} on a queue pair to a memory server, one operation after another: our baseline in C,
 * beside perftest, which others wrote.
 */
final class LoopPeer implements Peer {

    private static final int INLINE_BYTES = 172;
    private static final int DEPTH = 16;
    private static final int POLL_BATCH = 16;

    private final CloseStack opened = new CloseStack();
    private final RegisteredMemory value;
    private final RegisteredMemory fetched;
    private final RegionGrant region;
    private final QueuePair queuePair;
    private final RawLoop putting;
    private final RawLoop getting;
    private int bytes;

    /** @param server with at least one free region of that size */
    LoopPeer(String server, int maxBytes) {
        try {
            ControlClient control = opened.add(ControlClient.connect(server));
            control.hello(ControlPlane.PROTOCOL_VERSION);
            Lease lease = control.openLease("bench-peers-loop");
            opened.add(() -> control.closeLease(lease.id()));
            opened.add(new LeaseKeeper(control, lease, (lost, cause) -> {
                // Operations that are under way then end with an error.
            }));
            region = control.allocate(lease.id(), 1).getFirst();
            Context context = opened.add(Devices.open());
            ProtectionDomain domain = opened.add(context.allocateProtectionDomain());
            value = opened.add(RegisteredMemory.allocate(domain, "bench-peers-value", maxBytes, Access.LOCAL_WRITE));
            fetched =
                    opened.add(RegisteredMemory.allocate(domain, "bench-peers-fetched", maxBytes, Access.LOCAL_WRITE));
            CompletionQueue completions = opened.add(context.createCompletionQueue(2 * DEPTH, POLL_BATCH, null));
            queuePair = opened.add(domain.createQueuePair(completions, DEPTH, INLINE_BYTES));
            queuePair.connect(control.connect(lease.id(), queuePair.endpoint()).server());
            putting = opened.add(new RawLoop(queuePair, completions, 1, 1));
            getting = opened.add(new RawLoop(queuePair, completions, 1, 1));
        } catch (Throwable e) {
            try (opened) {
                throw e;
            }
        }
    }

    @Override
    public void use(byte[] newValue) {
        bytes = newValue.length;
        OffHeapValues.store(newValue, value.segment());
        putting.aim(
                SendRequests.WRITE,
                bytes <= queuePair.inlineBytes() ? SendRequests.INLINE : 0,
                value.address(),
                bytes,
                value.localKey(),
                region.remoteAddress(),
                region.rkey());
        getting.aim(
                SendRequests.READ,
                0,
                fetched.address(),
                bytes,
                fetched.localKey(),
                region.remoteAddress(),
                region.rkey());
    }

    @Override
    public void put(int times) {
        putting.run(times);
    }

    @Override
    public void get(int times) {
        getting.run(times);
    }

    @Override
    public byte[] got() {
        return OffHeapValues.load(fetched.segment(), bytes);
    }

    @Override
    public int cores() {
        return 1;
    }

    @Override
    public boolean onDevice() {
        return true;
    }

    @Override
    public void close() {
        opened.close();
    }
}
