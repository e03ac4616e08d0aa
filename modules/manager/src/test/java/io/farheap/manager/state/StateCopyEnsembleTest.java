package io.farheap.manager.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.lifetime.Closeables;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Copies to an ensemble of three in this JVM, and from it; the copy runs instead of the first member. */
@Execution(ExecutionMode.CONCURRENT)
class StateCopyEnsembleTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    private Path directory;

    private Ensemble ensemble;
    private StateLocation first;
    private StateLocation alone;
    private final Map<Integer, EnsembleMember> members = new HashMap<>();

    @BeforeEach
    void prepare() throws IOException {
        ensemble =
                Ensemble.parse(EnsembleTest.address(1) + "," + EnsembleTest.address(2) + "," + EnsembleTest.address(3));
        first = new StateLocation.EnsembleLocation(directory.resolve("m1"), 1, ensemble);
        alone = new StateLocation.StandaloneLocation(directory.resolve("alone"));
        start(2);
        start(3);
    }

    @AfterEach
    void close() {
        Closeables.all(new ArrayList<>(members.values()));
    }

    private void start(int id) {
        members.put(id, EnsembleMember.start(directory.resolve("m" + id), id, ensemble));
    }

    private void stop(int id) {
        members.remove(id).close();
    }

    private ZooKeeperStore open(int id) {
        return new ZooKeeperStore(members.get(id).connection(), PATIENCE);
    }

    private static ZooKeeperStore open(ZooKeeperHost host) {
        return new ZooKeeperStore(host.connection(), PATIENCE);
    }

    private static List<StateChange> put(long id) {
        return List.of(new StateChange.PutServer(Samples.server(id)));
    }

    private void refused(int id, String why) {
        StateException refused = assertThrows(StateException.class, () -> open(id).close());
        assertTrue(refused.getMessage().contains(why), refused::getMessage);
    }

    @Test
    void fromAManagerAloneToThreeAndEachOfThemHasIt() {
        long epoch;
        try (ZooKeeperHost host = alone.start();
                ZooKeeperStore store = open(host)) {
            store.write(put(1));
            epoch = store.epoch();
        }
        // This store leads the empty state at the new place.
        try (ZooKeeperStore leader = open(2)) {
            assertFalse(leader.followed());
            new StateCopy(alone, first, PATIENCE, step -> {
                        if (step == StateCopy.Step.MARKED) {
                            Samples.awaitFollowed(leader);
                            assertThrows(StaleEpochException.class, () -> leader.write(put(2)));
                            refused(3, "half made, by a copy of " + alone);
                        }
                    })
                    .run();
        }
        start(1);
        for (int without = 1; without <= 3; without++) {
            stop(without);
            try (ZooKeeperStore store = open(without % 3 + 1)) {
                assertEquals(List.of(Samples.server(1)), store.load().servers());
                assertTrue(store.epoch() > epoch);
                epoch = store.epoch();
            }
            start(without);
        }
        try (ZooKeeperHost host = alone.start()) {
            StateException refused =
                    assertThrows(StateException.class, () -> open(host).close());
            String elsewhere =
                    "was copied to the ensemble 1@" + ensemble.peer(1).host();
            assertTrue(refused.getMessage().contains(elsewhere), refused::getMessage);
        }
    }

    /** The copy is interrupted when no manager may open the state any more; its members can still start, to finish. */
    @Test
    @Tag("full")
    void fromThreeToAManagerAloneAndNoneOfThemLeadsAgain() {
        start(1);
        try (ZooKeeperStore store = open(1)) {
            store.write(put(1));
        }
        stop(1);
        long epoch;
        try (ZooKeeperStore leader = open(2)) {
            leader.write(put(2));
            epoch = leader.epoch();
            StateCopy interrupted = new StateCopy(first, alone, PATIENCE, step -> {
                assertThrows(StaleEpochException.class, () -> leader.write(put(3)));
                if (step == StateCopy.Step.MARKED) {
                    refused(3, "is being copied to " + alone);
                }
                if (step == StateCopy.Step.MOVED) {
                    throw new StateException("interrupted");
                }
            });
            assertThrows(StateException.class, interrupted::run);
        }
        refused(2, "was copied to " + alone);
        stop(2);
        stop(3);
        start(2);
        start(3);
        assertEquals(2, StateCopy.run(first, alone).servers());
        refused(3, "was copied to " + alone);
        try (ZooKeeperHost host = alone.start();
                ZooKeeperStore store = open(host)) {
            assertEquals(2, store.load().servers().size());
            assertTrue(store.epoch() > epoch);
        }
    }

    /** One of three members alone need not have the state that the majority has. */
    @Test
    @Tag("full")
    void fromOneOfThreeWithoutTheOthersNothingIsCopied() {
        start(1);
        try (ZooKeeperStore store = open(1)) {
            store.write(put(1));
        }
        for (int id = 1; id <= 3; id++) {
            stop(id);
        }
        StateException failed = assertThrows(
                StateException.class, () -> new StateCopy(first, alone, Duration.ofSeconds(1), _ -> {}).run());
        assertTrue(failed.getMessage().contains("more than half of an ensemble"), failed::getMessage);
        start(2);
        start(3);
        try (ZooKeeperStore store = open(2)) {
            assertEquals(List.of(Samples.server(1)), store.load().servers());
        }
    }
}
