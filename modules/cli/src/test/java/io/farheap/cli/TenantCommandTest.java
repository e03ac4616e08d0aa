package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.contract.CacheException;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Devices;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An operator sets quotas, and caches are refused by them; manager and server are processes of their own. */
@Needs(Need.HOST)
class TenantCommandTest {

    private static final long MIB = 1 << 20;

    @TempDir
    private Path data;

    private static String run(int exitCode, String... arguments) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        assertEquals(exitCode, Main.commandLine().setOut(out).setErr(out).execute(arguments), text::toString);
        return text.toString();
    }

    private ManagerProcess startManager() {
        return ManagerProcess.start(Devices.library(), "127.0.0.1:0", "--data", data.toString());
    }

    private static Cache create(String manager, String tenant, long bytes) {
        return Cache.builder()
                .capacity(bytes)
                .manager(manager)
                .tenant(tenant)
                .device(TestDevice.client())
                .create();
    }

    private static void awaitServer(String address) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
        try (ManagerClient client = ManagerClient.connect(address)) {
            while (client.servers().isEmpty()) {
                assertTrue(System.nanoTime() - deadline < 0, "no server reports");
                Thread.sleep(20);
            }
        }
    }

    @Test
    void quotasAreSetKeptAndKeptTo() throws Exception {
        try (ManagerProcess manager = startManager();
                ServerProcess server = TestServer.start(16 * MIB, MIB, "--manager", manager.address())) {
            String address = manager.address();
            awaitServer(address);
            eachAddressIsTakenForTheOther(address, server.address());
            assertTrue(run(0, "manager", "tenants", "--manager", address).contains("no tenants"));
            assertEquals(
                    "acme: 0 bytes of 4 MiB, 0 of 2 caches\n",
                    run(0, "manager", "tenant", "acme", "--memory", "4m", "--caches", "2", "--manager", address));
            try (Cache cache = create(address, "acme", 3 * MIB);
                    Cache other = create(address, "", MIB)) {
                String refused = assertThrows(CacheException.class, () -> create(address, "acme", 2 * MIB))
                        .getMessage();
                assertTrue(refused.contains("tenant acme has 3 MiB and asks for 2 MiB more"), refused);
                assertTrue(assertThrows(CacheException.class, () -> cache.reshape(5 * MIB))
                        .getMessage()
                        .contains("its quota is 4 MiB"));
                cache.reshape(4 * MIB);
                assertEquals(
                        "acme: 4 MiB of 4 MiB, 1 of 2 caches\ndefault: 1 MiB, 1 cache\n",
                        run(0, "manager", "tenants", "--manager", address));
                assertEquals("acme: 4 MiB, 1 cache\n", run(0, "manager", "tenant", "acme", "--manager", address));
                cache.reshape(5 * MIB);
                assertEquals(1, other.servers().size());
            }
            assertTrue(run(0, "manager", "tenants", "--manager", address).contains("no tenants"));
            run(0, "manager", "tenant", "acme", "--caches", "7", "--manager", address);
        }
        try (ManagerProcess again = startManager()) {
            assertEquals("acme: 0 bytes, 0 of 7 caches\n", run(0, "manager", "tenants", "--manager", again.address()));
        }
    }

    /** The message says so, and names the option for which the address is right. */
    private static void eachAddressIsTakenForTheOther(String manager, String server) {
        String said = run(1, "manager", "tenants", "--manager", server);
        assertTrue(said.contains(server + " is not a cache manager: another service answers there"), said);
        String refused = assertThrows(CacheException.class, () -> Cache.builder()
                        .capacity(1)
                        .servers(manager)
                        .device(TestDevice.client())
                        .create())
                .getMessage();
        assertTrue(refused.contains(manager + " is not a memory server: another service answers there"), refused);
    }

    @Test
    void aManagerIsToldWhereToKeepItsState() {
        String wrong = run(2, "manager");
        assertTrue(wrong.contains("--data DIR, or --temporary"), wrong);
        assertTrue(run(2, "manager", "tenants").contains("--manager"));
        assertTrue(run(2, "manager", "tenant", "--manager", "127.0.0.1:1").contains("NAME"));
        assertTrue(
                run(1, "manager", "tenant", "a/b", "--manager", "127.0.0.1:1").contains("farheap: "));
    }

    @Test
    void noManagerIsOneSentence() {
        CacheException refused = assertThrows(
                CacheException.class,
                () -> Cache.builder().capacity(1).manager("127.0.0.1:1").create());
        assertTrue(refused.getMessage().contains("cache manager 127.0.0.1:1 cannot be reached"), refused.getMessage());
        IllegalArgumentException both = assertThrows(
                IllegalArgumentException.class,
                () -> Cache.builder().capacity(1).manager("a:1").servers("b:1").create());
        assertTrue(both.getMessage().contains("name either"), both.getMessage());
    }
}
