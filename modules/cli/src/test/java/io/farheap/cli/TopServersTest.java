package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.farheap.control.SignedGrant;
import io.farheap.control.grpc.ControlClient;
import io.farheap.control.grpc.ControlServer;
import io.farheap.control.plane.ControlPlane;
import io.farheap.control.plane.Lease;
import io.farheap.manager.service.commands.TopCommand;
import io.farheap.server.MemoryServer;
import io.farheap.server.Planes;
import io.farheap.server.contract.Headroom;
import io.farheap.server.contract.MachineMemory;
import io.farheap.server.contract.ServerOptions;
import io.farheap.testing.TestDevice;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** {@code farheap top} of memory servers, one of which has a device. */
class TopServersTest {

    private static final long MIB = 1 << 20;

    private final StringWriter out = new StringWriter();

    private int run(Object command, String... arguments) {
        out.getBuffer().setLength(0);
        return new CommandLine(command)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(out))
                .execute(arguments);
    }

    @Test
    void memoryServersAreAskedThemselves() {
        ServerOptions options = new ServerOptions(
                        4 * MIB, MIB, TestDevice.patience(30_000_000_000L), TestDevice.server(), "m1")
                .domain("rack 7")
                .headroom(new Headroom(25, 3_600_000_000_000L, 2, () -> new MachineMemory(1 << 30, 1 << 29)));
        try (MemoryServer memory = MemoryServer.open(options);
                ControlServer control = ControlServer.start("127.0.0.1:0", Planes.of(memory));
                ControlClient client = ControlClient.connect(control.address())) {
            Lease lease = client.openLease("orders", 0xabL, SignedGrant.NONE);
            client.allocate(lease.id(), 3);

            assertEquals(0, run(new TopCommand(), "--once", "--json", control.address()), out::toString);
            JsonObject seen = JsonParser.parseString(out.toString())
                    .getAsJsonObject()
                    .getAsJsonArray("servers")
                    .get(0)
                    .getAsJsonObject();
            assertEquals("rack 7", seen.get("domain").getAsString());
            assertEquals(3, seen.get("used_regions").getAsInt());
            assertEquals(1, seen.get("free_regions").getAsInt());
            JsonObject held = seen.getAsJsonArray("leases").get(0).getAsJsonObject();
            assertEquals("orders", held.get("client").getAsString());
            assertEquals("00000000000000ab", held.get("cache").getAsString());
            assertEquals(3, held.get("regions").getAsInt());
            assertEquals(0, held.get("call_ns").getAsLong());
            assertEquals(25, seen.getAsJsonObject("headroom").get("percent").getAsInt());

            assertEquals(
                    0,
                    seen.getAsJsonObject("counters")
                            .get("procedures.calls.done")
                            .getAsInt());

            String nobody = "127.0.0.1:1";
            assertEquals(1, run(new TopCommand(), "--once", control.address(), nobody), out::toString);
            String table = out.toString();
            String row = control.address() + " +m1 +1 MiB +4 +3 +1 +0 +1 +0 +25% of .*";
            assertTrue(table.lines().anyMatch(line -> line.matches(row)), table);
            assertTrue(
                    table.lines()
                            .anyMatch(line -> line.matches(control.address() + " +orders +0+ab +3 +0 +\\d+ ms +0 ms")),
                    table);
            assertTrue(table.contains(nobody), table);
        }
    }

    /** The output ends after the first table. */
    @Test
    void theServersAreAskedOnceForTheFirstTable() {
        AtomicInteger described = new AtomicInteger();
        ServerOptions options =
                new ServerOptions(4 * MIB, MIB, TestDevice.patience(30_000_000_000L), TestDevice.server(), "m1");
        try (MemoryServer memory = MemoryServer.open(options);
                ControlServer control = ControlServer.start("127.0.0.1:0", counting(described, Planes.of(memory)))) {
            assertEquals(0, new CommandLine(new TopCommand()).setOut(full()).execute("--json", control.address()));
        }
        assertEquals(1, described.get());
    }

    private static ControlPlane counting(AtomicInteger described, ControlPlane plane) {
        return (ControlPlane) Proxy.newProxyInstance(
                ControlPlane.class.getClassLoader(), new Class<?>[] {ControlPlane.class}, (_, method, arguments) -> {
                    if (method.getName().equals("describe")) {
                        described.incrementAndGet();
                    }
                    try {
                        return method.invoke(plane, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** A file system that is full. */
    private static PrintWriter full() {
        return new PrintWriter(new Writer() {
            @Override
            public void write(char[] text, int from, int count) throws IOException {
                throw new IOException("no space");
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
    }
}
