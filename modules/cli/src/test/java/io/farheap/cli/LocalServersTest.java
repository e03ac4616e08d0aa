package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.control.grpc.ControlClient;
import io.farheap.control.plane.ControlPlane;
import io.farheap.manager.allocation.MachineType;
import io.farheap.manager.allocation.Menu;
import io.farheap.manager.provider.Machine;
import io.farheap.manager.provider.MachineOffer;
import io.farheap.manager.provider.ServerProvider;
import io.farheap.testing.TestDevice;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/** Servers that a provider starts as processes of this host, without a manager, which other tests have. */
@Isolated("it counts this process's children, and stops one")
class LocalServersTest {

    private static final long MIB = 1 << 20;
    private static final long PATIENCE_SECONDS = TestDevice.patience(60);
    private static final Menu MENU =
            Menu.of(List.of(new MachineType("small", "", 2, 4 * MIB, 1, 0.25, 30, 1, 1)), 0, 0, 0);

    private final BlockingQueue<String> heard = new LinkedBlockingQueue<>();
    private ServerProvider provider;

    private final ServerProvider.Listener listener = new ServerProvider.Listener() {
        @Override
        public void reclaimed(Machine machine, Duration notice) {
            heard.add(machine.lot() + " leaves in " + notice.toMillis());
        }

        @Override
        public void ended(Machine machine) {
            heard.add(machine.lot() + " has ended");
        }

        @Override
        public void failed(Machine machine, String why) {
            heard.add(machine.lot() + " has failed: " + why);
        }

        @Override
        public void available(String type, boolean spot) {
            heard.add(type + " can be had");
        }
    };

    @AfterEach
    void close() {
        if (provider != null) {
            provider.close();
        }
        assertEquals(List.of(), servers());
    }

    private void open(String... settings) {
        Map<String, String> all = new HashMap<>(Map.of("region", "1m", "device", TestDevice.server()));
        for (String setting : settings) {
            all.put(setting.split("=")[0], setting.split("=")[1]);
        }
        provider = ServiceLoader.load(ServerProvider.Factory.class).stream()
                .map(ServiceLoader.Provider::get)
                .filter(factory -> factory.name().equals("local"))
                .findFirst()
                .orElseThrow()
                .open(all, () -> MENU, "127.0.0.1:1", listener);
    }

    private static List<ProcessHandle> servers() {
        return ProcessHandle.current().children().filter(ProcessHandle::isAlive).toList();
    }

    private MachineOffer lot(boolean spot) {
        return provider.menu().stream()
                .filter(lot -> lot.spot() == spot)
                .findFirst()
                .orElseThrow();
    }

    private static String await(Machine machine) throws Exception {
        return machine.address().toCompletableFuture().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    private String hear() throws InterruptedException {
        return heard.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void aServerRunsUntilItIsToStopAndAnotherCanBeHadThen() throws Exception {
        open("servers=1");
        assertEquals(1, lot(false).available());
        Machine machine = provider.start(lot(false));
        try (ControlClient client = ControlClient.connect(await(machine))) {
            var described = client.hello(ControlPlane.PROTOCOL_VERSION);
            assertEquals(4, described.totalRegions());
            assertEquals(MIB, described.regionBytes());
        }
        assertEquals(0, lot(false).available());
        ExecutionException full = assertThrows(ExecutionException.class, () -> await(provider.start(lot(false))));
        assertTrue(full.getMessage().contains("servers=1 is the most"), full.getMessage());
        provider.tellWhenAvailable("small", false);
        provider.tellWhenAvailable("small", false);
        machine.stop();
        machine.stop();
        assertEquals("small can be had", hear());
        assertEquals("small has ended", hear());
        assertEquals(1, lot(false).available());
        provider.tellWhenAvailable("small", true);
        assertEquals("small can be had", hear());
        assertEquals(0, heard.size());
    }

    @Test
    @Tag("full")
    void aSpotServerIsToldToLeaveWhenItsLifeIsOver() throws Exception {
        open("life=1ms", "notice=20s");
        Machine machine = provider.start(lot(true));
        await(machine);
        assertEquals("small (spot) leaves in 20000", hear());
        // No cache has regions on the server, so it does not wait.
        assertEquals("small (spot) has ended", hear());
    }

    @Test
    @Tag("full")
    void oneThatDoesNotLeaveIsKilledWhenItsNoticeIsOver() throws Exception {
        open("notice=1s");
        Machine machine = provider.start(lot(false));
        await(machine);
        String pid = String.valueOf(servers().getFirst().pid());
        assertEquals(0, new ProcessBuilder("kill", "-STOP", pid).start().waitFor());
        machine.stop();
        assertEquals("small has ended", hear());
        assertEquals(List.of(), servers());
    }

    @Test
    void oneThatIsKilledHasFailed() throws Exception {
        open();
        Machine machine = provider.start(lot(false));
        await(machine);
        servers().forEach(ProcessHandle::destroyForcibly);
        assertEquals("small has failed: its process has ended with status 137", hear());
    }

    @Test
    @Tag("full")
    void allOfThemEndWithTheProviderAlsoThoseThatStart() throws Exception {
        open();
        await(provider.start(lot(false)));
        Machine starting = provider.start(lot(false));
        provider.close();
        assertEquals(List.of(), servers());
        assertTrue(starting.address().toCompletableFuture().isCompletedExceptionally());
        assertThrows(IllegalStateException.class, () -> provider.start(lot(false)));
        assertEquals(0, heard.size());
    }

    @Test
    void oneThatCannotStartSaysSo() {
        open("memory=4m", "device=nowhere0");
        Machine machine = provider.start(lot(false));
        ExecutionException failed = assertThrows(ExecutionException.class, () -> await(machine));
        assertTrue(failed.getMessage().contains("ended before it listened"), failed.getMessage());
        assertEquals(8, lot(false).available());
    }
}
