package io.farheap.bench.raw;

import io.farheap.control.RegionGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.lease.LeaseKeeper;
import io.farheap.control.plane.ConnectedQueuePair;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.memory.RegisteredMemory;
import io.farheap.verbs.Access;
import io.farheap.verbs.CompletionQueue;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import io.farheap.verbs.ProtectionDomain;
import io.farheap.verbs.QueuePair;
import io.farheap.verbs.RawLoop;
import io.farheap.verbs.SendRequests;
import io.farheap.verbs.VerbsException;
import java.util.List;

/**
 * A queue pair to a memory server, for the two sides of {@code bench raw} that use verbs directly. Each side has a
 * region of its own there, and local memory of its own.
 */
final class RawTarget implements AutoCloseable {

    static final int INLINE_BYTES = 172;
    private static final int POLL_BATCH = 16;
    /** One for each side. */
    private static final int REGIONS = 2;

    /** A side's own memory. */
    private record Memory(RegisteredMemory local, RegionGrant remote) {}

    private final ControlClient control;
    private final Lease lease;
    private final LeaseKeeper keeper;
    private final Memory ofLoop;
    private final Memory ofVerbs;
    private final Context context;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final QueuePair queuePair;

    /**
     * Connects a queue pair.
     *
     * @param server with two free regions, of at least {@code maxBytes}
     * @param depth of the queue pair; a list has at most as many records, each with local memory of its own
     */
    RawTarget(String server, int maxBytes, int depth) {
        control = ControlClient.connect(server);
        control.hello(ControlPlane.PROTOCOL_VERSION);
        lease = control.openLease("bench-raw");
        keeper = new LeaseKeeper(control, lease, (lost, cause) -> {
            // Operations that are under way then end with an error.
        });
        List<RegionGrant> regions = control.allocate(lease.id(), REGIONS);
        context = Devices.open();
        domain = context.allocateProtectionDomain();
        completions = context.createCompletionQueue(2 * depth, POLL_BATCH, null);
        queuePair = domain.createQueuePair(completions, depth, INLINE_BYTES);
        ConnectedQueuePair connected = control.connect(lease.id(), queuePair.endpoint());
        queuePair.connect(connected.server());
        long bytes = (long) maxBytes * depth;
        ofLoop = new Memory(
                RegisteredMemory.allocate(domain, "bench-raw-loop", bytes, Access.LOCAL_WRITE), regions.getFirst());
        ofVerbs = new Memory(
                RegisteredMemory.allocate(domain, "bench-raw-verbs", bytes, Access.LOCAL_WRITE), regions.getLast());
    }

    Context context() {
        return context;
    }

    /** The C loop. */
    RawLoop loop(RawOperation operation, int bytes, int depth, int list) {
        RawLoop loop = new RawLoop(queuePair, completions, depth, list);
        loop.aim(
                operation.opcode,
                operation.flags(bytes, queuePair.inlineBytes()),
                ofLoop.local().address(),
                bytes,
                ofLoop.local().localKey(),
                ofLoop.remote().remoteAddress(),
                ofLoop.remote().rkey());
        return loop;
    }

    /**
     * The same in Java, on {@code io.farheap.verbs}: each work request is filled in again, and a list is posted by one
     * call.
     */
    Verbs verbs(RawOperation operation, int bytes, int depth, int list) {
        return new Verbs(operation, bytes, depth, list);
    }

    @Override
    public void close() {
        queuePair.close();
        completions.close();
        ofLoop.local().close();
        ofVerbs.local().close();
        domain.close();
        context.close();
        keeper.close();
        control.closeLease(lease.id());
        control.close();
    }

    final class Verbs implements RawSide, AutoCloseable {

        private final RawOperation operation;
        private final int bytes;
        private final int flags;
        private final int depth;
        private final int list;
        private final SendRequests requests;
        private final RegisteredMemory local = ofVerbs.local();
        private final RegionGrant region = ofVerbs.remote();

        private Verbs(RawOperation operation, int bytes, int depth, int list) {
            this.operation = operation;
            this.bytes = bytes;
            this.flags = operation.flags(bytes, queuePair.inlineBytes());
            this.depth = depth;
            this.list = list;
            this.requests = new SendRequests(depth);
            for (int i = 0; i < depth; i++) {
                if ((i + 1) % list != 0) {
                    requests.link(i, i + 1);
                }
            }
        }

        @Override
        public long run(int operations) {
            int inFlight = 0;
            int next = 0;
            long start = System.nanoTime();
            for (int posted = 0; posted < operations || inFlight > 0; ) {
                if (posted < operations && inFlight < depth) {
                    post(next);
                    posted += list;
                    inFlight += list;
                    next = next + list == depth ? 0 : next + list;
                    if (inFlight < depth && posted < operations) {
                        continue;
                    }
                }
                int polled = completions.poll();
                for (int i = 0; i < polled; i++) {
                    if (completions.status(i) != 0) {
                        throw new VerbsException("an operation failed");
                    }
                }
                inFlight -= polled * list;
            }
            return System.nanoTime() - start;
        }

        private void post(int first) {
            int last = first + list - 1;
            // The links of the list stay, as in the C loop; the fields of each operation are written again.
            for (int i = first; i <= last; i++) {
                int requestFlags = i == last ? flags | SendRequests.SIGNALED : flags;
                long to = local.address() + (long) (i - first) * bytes;
                if (operation.atomic()) {
                    requests.aimAtomic(
                            i,
                            operation.opcode,
                            requestFlags,
                            to,
                            local.localKey(),
                            region.remoteAddress(),
                            region.rkey(),
                            0,
                            0);
                } else {
                    requests.aim(
                            i,
                            operation.opcode,
                            requestFlags,
                            to,
                            bytes,
                            local.localKey(),
                            region.remoteAddress(),
                            region.rkey());
                }
            }
            if (queuePair.post(requests, first, (long) list * bytes) != 0) {
                throw new VerbsException("the device refused a request");
            }
        }

        @Override
        public void sample(int every, long[] nanos) {
            for (int i = 0; i < nanos.length; i++) {
                run(every - 1);
                nanos[i] = run(1);
            }
        }

        @Override
        public void close() {
            requests.close();
        }
    }
}
