package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.command.ChildJvm;
import io.farheap.manager.state.EmbeddedZooKeeper;
import io.farheap.manager.state.ManagerState;
import io.farheap.manager.state.ModelRecord;
import io.farheap.manager.state.StateChange;
import io.farheap.manager.state.StateException;
import io.farheap.manager.state.ZooKeeperStore;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy of a manager's state is killed with SIGKILL at a random moment. */
@Tag("full")
class KilledCopyTest {

    private static final int ROUNDS = 3;
    private static final int MODELS = 12;
    /** The latest moment after the first write to the new place: about as long as the rest of the copy takes. */
    private static final int MOST_MILLIS = 800;

    @TempDir
    private Path directory;

    /** The models of the state at this place, or null if opening it is refused. */
    private static @Nullable Set<ModelRecord> models(Path place) {
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(place);
                ZooKeeperStore store = new ZooKeeperStore(zookeeper.connection())) {
            ManagerState state = store.load();
            return new HashSet<>(state.models());
        } catch (StateException e) {
            String why = e.getMessage();
            assertTrue(why.contains("half made") || why.contains("was copied to"), why);
            return null;
        }
    }

    private static ChildJvm copy(Path from, Path to) throws IOException {
        return ChildJvm.start(
                Devices.library(),
                Map.of(),
                List.of("-Xmx256m"),
                List.of(
                        "io.farheap.cli.Main",
                        "manager",
                        "copy",
                        "--from-data",
                        from.toString(),
                        "--to-data",
                        to.toString()));
    }

    /** Waits until ZooKeeper has written there, which it does when its first client connects. */
    private static void awaitWrite(Path place) throws Exception {
        Path files = place.resolve("zookeeper/version-2");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
        while (!written(files)) {
            assertTrue(System.nanoTime() - deadline < 0, "it writes nothing");
            Thread.sleep(1);
        }
    }

    private static boolean written(Path files) throws IOException {
        if (!Files.isDirectory(files)) {
            return false;
        }
        try (Stream<Path> list = Files.list(files)) {
            return list.anyMatch(file -> file.getFileName().toString().startsWith("log."));
        }
    }

    @Test
    void theStateIsAtOnePlaceAndTheSameOnceMoreCompletesIt() throws Exception {
        long seed = System.nanoTime();
        System.out.println("KilledCopyTest: seed " + seed);
        Random random = new Random(seed);
        Path old = directory.resolve("0");
        Set<ModelRecord> all = new HashSet<>();
        try (EmbeddedZooKeeper zookeeper = EmbeddedZooKeeper.start(old);
                ZooKeeperStore store = new ZooKeeperStore(zookeeper.connection())) {
            for (int i = 0; i < MODELS; i++) {
                ModelRecord model = new ModelRecord("m" + i, "x".repeat(1 + random.nextInt(800_000)));
                all.add(model);
                store.write(List.of(new StateChange.PutModel(model)));
            }
        }
        for (int round = 1; round <= ROUNDS; round++) {
            Path young = directory.resolve(String.valueOf(round));
            try (ChildJvm killed = copy(old, young)) {
                awaitWrite(young);
                killed.onExit()
                        .completeOnTimeout(-1, random.nextInt(MOST_MILLIS), TimeUnit.MILLISECONDS)
                        .join();
                killed.kill();
            }
            @Nullable Set<ModelRecord> there = models(old);
            @Nullable Set<ModelRecord> here = models(young);
            System.out.println("KilledCopyTest: round " + round + ", old " + (there == null ? "refused" : there.size())
                    + ", new " + (here == null ? "refused" : here.size()));
            if (there != null) {
                assertEquals(all, there);
                assertTrue(here == null || here.isEmpty(), "it is at both places");
            } else {
                assertTrue(here == null || here.equals(all), "it is at none");
            }
            boolean complete = here != null && there == null;
            try (ChildJvm again = copy(old, young)) {
                assertTrue(again.await(TestDevice.patience(60)), "it does not end");
                assertEquals(complete ? 1 : 0, again.exitValue());
            }
            assertEquals(null, models(old));
            assertEquals(all, models(young));
            old = young;
        }
    }
}
