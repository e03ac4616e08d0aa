package io.farheap.bench.resilience;

import io.farheap.lifetime.CloseStack;
import io.farheap.lifetime.Closeables;
import java.util.ArrayList;
import java.util.List;

/** Issues several requests at once, each to pages of its own, and then pauses for as long as they took. One thread. */
final class RequestBurst implements AutoCloseable {

    private final CloseStack opened = new CloseStack();
    private final List<Requester> requesters = new ArrayList<>();

    /**
     * @param bytes of the memory, whole pages
     * @param count requests of a burst, at most as many as pages
     */
    RequestBurst(FarSide side, ShadowMemory shadow, int pageBytes, long bytes, int count) {
        try {
            List<FarMemoryClient> clients = side.openLanes(count, opened);
            for (int i = 0; i < count; i++) {
                requesters.add(new Requester(clients.get(i), shadow, pageBytes, bytes, count, i));
            }
        } catch (Throwable e) {
            Closeables.after(e, opened);
            throw e;
        }
    }

    /** Runs one burst after another, pauses included, for a time; at least one. */
    void run(RequestKind access, long forNanos, RequestTally tally) {
        long bytesBefore = postedBytes();
        long from = System.nanoTime();
        do {
            requesters.forEach(requester -> requester.prepare(access));
            double cpu = CpuTime.now();
            long begun = System.nanoTime();
            requesters.forEach(Requester::issue);
            await();
            long took = System.nanoTime() - begun;
            tally.cpu(CpuTime.now() - cpu);
            requesters.forEach(requester -> requester.tell(tally));
            while (System.nanoTime() - begun < 2 * took) {
                Thread.onSpinWait();
            }
        } while (System.nanoTime() - from < forNanos);
        tally.posted(postedBytes() - bytesBefore);
    }

    private void await() {
        boolean all;
        do {
            all = true;
            for (Requester requester : requesters) {
                all &= requester.over();
            }
        } while (!all);
    }

    private long postedBytes() {
        return requesters.stream().mapToLong(Requester::postedBytes).sum();
    }

    @Override
    public void close() {
        opened.close();
    }
}
