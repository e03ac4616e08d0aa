package io.farheap.server;

import io.farheap.control.ControlException;
import io.farheap.control.RegionGrant;
import io.farheap.control.SpaceKey;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.memory.RegisteredMemory;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.WcStatus;
import java.util.List;

/**
 * A client process that is nearly always in the middle of a long WRITE or READ, so that a test can stop it there. It
 * prints when it has begun, and when its operations begin to fail; then it ends. Its name contains its pid. Arguments:
 * HOST:PORT, regions, WRITE or READ; for those of a shared space, its name and token.
 */
public final class StoppedClient {

    private StoppedClient() {}

    /** Tries again: if several JVMs start at the same time, a call may take longer than its deadline. */
    private static ControlClient connect(String address) {
        for (int attempt = 1; ; attempt++) {
            try {
                return ControlClient.connect(address);
            } catch (ControlException e) {
                if (attempt == 10) {
                    throw e;
                }
            }
        }
    }

    public static void main(String[] arguments) {
        ControlClient plane = connect(arguments[0]);
        int opcode = arguments[2].equals("READ") ? SendRequests.READ : SendRequests.WRITE;
        Context context = Devices.open(TestDevice.client());
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue completions = context.createCompletionQueue(1, 1, null);
        var lease = plane.openLease("stopped-" + ProcessHandle.current().pid());
        new LeaseKeeper(plane, lease, (lost, cause) -> {});
        List<RegionGrant> regions = arguments.length > 3
                ? plane.spaces()
                        .open(lease.id(), SpaceKey.of(arguments[3], arguments[4]))
                        .regions()
                : plane.allocate(lease.id(), Integer.parseInt(arguments[1]));
        int bytes = (int) regions.getFirst().length();
        RegisteredMemory memory = RegisteredMemory.allocate(domain, "test-stopped", bytes, Access.LOCAL_WRITE);
        memory.segment().fill((byte) 0x5A);
        QueuePair queuePair = domain.createQueuePair(completions, 1, 0);
        ConnectedQueuePair connected = plane.connect(lease.id(), queuePair.endpoint());
        queuePair.connect(connected.server());
        SendRequests requests = new SendRequests(1);
        for (int i = 0; ; i++) {
            RegionGrant region = regions.get(i % regions.size());
            requests.prepare(
                    0,
                    opcode,
                    SendRequests.SIGNALED,
                    memory.address(),
                    bytes,
                    memory.localKey(),
                    region.remoteAddress(),
                    region.rkey());
            int error = queuePair.postUnbounded(requests, 0);
            while (error == 0 && completions.poll() == 0) {
                Thread.onSpinWait();
            }
            if (error != 0 || completions.status(0) != WcStatus.SUCCESS) {
                System.out.println("refused");
                return;
            }
            if (i == regions.size()) {
                System.out.println("copying");
            }
        }
    }
}
