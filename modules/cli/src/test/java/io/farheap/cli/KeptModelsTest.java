package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.cache.Cache;
import io.farheap.cache.CacheBuilder;
import io.farheap.cache.contract.CacheException;
import io.farheap.command.ManagerProcess;
import io.farheap.command.ServerProcess;
import io.farheap.manager.CacheManager;
import io.farheap.manager.grpc.ManagerClient;
import io.farheap.measure.ModelSubjects;
import io.farheap.slo.ModelFile;
import io.farheap.slo.ModelSubject;
import io.farheap.slo.Objective;
import io.farheap.slo.Performance;
import io.farheap.slo.Slo;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import io.farheap.verbs.Context;
import io.farheap.verbs.Devices;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Models that a manager keeps, from the command that puts them to the cache that asks for them. */
@Needs(Need.HOST)
class KeptModelsTest {

    private static final long MIB = 1 << 20;

    @TempDir
    private Path directory;

    private static String run(int exitCode, String... arguments) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text);
        assertEquals(exitCode, Main.commandLine().setOut(out).setErr(out).execute(arguments), text::toString);
        return text.toString();
    }

    /** A model of this device: 1 us without server threads, and 100,000 operations a second for each client thread. */
    private String model(int recordBytes) throws IOException {
        ModelSubject subject;
        try (Context context = Devices.open(TestDevice.client())) {
            subject = ModelSubjects.of(context, 0, recordBytes, 50, 2, 2);
        }
        Path path = directory.resolve("model" + recordBytes);
        try (ModelFile file = ModelFile.open(path, subject)) {
            while (!file.plan().complete()) {
                double rate = 1e5 * file.plan().next().clientThreads();
                file.record(new Performance(1_000, rate, 1_000, rate));
            }
        }
        return path.toString();
    }

    private static CacheBuilder builder(String manager) {
        return Cache.builder()
                .capacity(2 * MIB)
                .manager(manager)
                .slo(new Slo(new Objective(1e9, 1.5e5), Objective.NONE))
                .device(TestDevice.client());
    }

    private static void awaitServer(String manager) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(TestDevice.patience(60));
        try (ManagerClient client = ManagerClient.connect(manager)) {
            while (client.servers().isEmpty()) {
                assertTrue(System.nanoTime() - deadline < 0, "no server reports");
                Thread.sleep(20);
            }
        }
    }

    @Test
    void aCacheWithAnObjectiveTakesTheManagersModel() throws Exception {
        try (ManagerProcess manager = ManagerProcess.start(
                        Devices.library(),
                        "127.0.0.1:0",
                        "--data",
                        directory.resolve("data").toString());
                ServerProcess server = TestServer.start(8 * MIB, MIB, "--manager", manager.address())) {
            String address = manager.address();
            awaitServer(address);
            assertTrue(run(0, "model", "list", "--manager", address).contains("no models"));
            String none = assertThrows(
                            CacheException.class, () -> builder(address).create())
                    .getMessage();
            assertTrue(none.contains("farheap model put FILE --manager HOST:PORT"), none);

            String put = run(0, "model", "put", model(4096), "--manager", address);
            assertTrue(put.startsWith("kept  ") && put.contains("records of 4096 bytes, 50% reads"), put);
            try (Cache cache = builder(address).create()) {
                assertEquals(
                        2,
                        cache.explanation()
                                .orElseThrow()
                                .chosen()
                                .configuration()
                                .clientThreads());
                assertTrue(server.pid() > 0);
            }

            run(0, "model", "put", model(2048), directory.resolve("model4096").toString(), "--manager", address);
            assertEquals(
                    2, run(0, "model", "list", "--manager", address).lines().count());
            String which = assertThrows(
                            CacheException.class, () -> builder(address).create())
                    .getMessage();
            assertTrue(which.contains("name the cache's load with CacheBuilder.workload"), which);
            builder(address).workload(2048, 50).create().close();

            String line = run(0, "model", "list", "--manager", address)
                    .lines()
                    .filter(model -> model.contains("records of 2048"))
                    .findFirst()
                    .orElseThrow();
            run(0, "model", "remove", line.substring(0, line.indexOf(' ')), "--manager", address);
            builder(address).create().close();
        }
    }

    @Test
    void whatIsNoModelIsRefusedBeforeAnybodyIsAsked() throws IOException {
        Path file = directory.resolve("large");
        Files.write(file, new byte[CacheManager.MAX_MODEL_BYTES + 1]);
        String large = run(1, "model", "put", file.toString(), "--manager", "127.0.0.1:1");
        assertTrue(large.contains("has 900001 bytes, and a manager keeps models of at most 900000"), large);
        Files.writeString(file, "a list\n");
        String other = run(1, "model", "put", model(4096), file.toString(), "--manager", "127.0.0.1:1");
        assertTrue(other.contains("is not a performance model"), other);
        assertTrue(run(2, "model", "put", "--manager", "127.0.0.1:1").contains("FILE"));
    }
}
