package io.farheap.kv;

import static io.farheap.kv.ServerLoss.await;
import static io.farheap.kv.ServerLoss.holds;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A process that sets and deletes its own keys, of rising numbers, and reads another's: no older number comes back,
 * whether keys are lost or not.
 */
final class MonotonicClient implements Runnable {

    private final FarMap map;
    private final Load load;
    private final int own;
    private final BooleanSupplier ends;
    private final int[] last;
    private final int[] seen;
    /** How many of its last sets were done, one after the other. */
    private volatile int done;

    /**
     * The requests of clients.
     *
     * @param keys of each client
     * @param reads of a key, one after the other; a second one may use a pointer
     */
    record Load(int keys, int valueBytes, int reads) {}

    private MonotonicClient(FarMap map, Load load, int own, BooleanSupplier ends) {
        this.map = map;
        this.load = load;
        this.own = own;
        this.ends = ends;
        last = new int[load.keys()];
        seen = new int[2 * load.keys()];
    }

    /** Has a client use each of two maps before, while and after a server is lost. */
    static void outlive(Runnable loss, FarMap map, FarMap other, Load load) throws Exception {
        AtomicBoolean ends = new AtomicBoolean();
        List<MonotonicClient> clients = List.of(
                new MonotonicClient(map, load, 0, ends::get), new MonotonicClient(other, load, load.keys(), ends::get));
        List<CompletableFuture<Void>> running = clients.stream()
                .map(client -> CompletableFuture.runAsync(
                        client, task -> Thread.ofPlatform().start(task)))
                .toList();
        await(() -> clients.stream().allMatch(client -> client.done > 2 * load.keys()));
        loss.run();
        await(() -> running.stream().anyMatch(CompletableFuture::isDone)
                || map.servers().size() == 2 && other.servers().size() == 2);
        await(() -> running.stream().anyMatch(CompletableFuture::isDone)
                || clients.stream().allMatch(client -> client.done > 2 * load.keys()));
        ends.set(true);
        for (CompletableFuture<Void> each : running) {
            each.get();
        }
    }

    @Override
    public void run() {
        SplittableRandom random = new SplittableRandom(own);
        try (MapSession session = map.openSession()) {
            for (int number = 1; !ends.getAsBoolean(); number++) {
                int key = number % load.keys();
                byte[] value = TestServers.value(number, load.valueBytes());
                boolean stored = holds(() -> session.set(TestServers.key(own + key), value));
                done = stored ? done + 1 : 0;
                if (!stored) {
                    // Until the lost server has been replaced, most of the time, this leaves the processor alone.
                    LockSupport.parkNanos(ServerLoss.PAUSE_NANOS / 10);
                }
                last[key] = number;
                int read = random.nextInt(2 * load.keys());
                for (int i = 0; i < load.reads(); i++) {
                    holds(() -> look(session, read));
                }
                if (number % 7 == 0) {
                    holds(() -> session.delete(TestServers.key(own + key)));
                }
            }
        }
    }

    private void look(MapSession session, int key) {
        byte[] found = session.get(TestServers.key(key));
        if (found != null) {
            int number = ByteBuffer.wrap(found).getInt();
            assertTrue(number >= seen[key], "an older value is back");
            seen[key] = number;
            int ofOwn = key - own;
            if (ofOwn >= 0 && ofOwn < load.keys()) {
                assertTrue(number <= last[ofOwn]);
            }
        }
    }
}
