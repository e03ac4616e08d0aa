package io.farheap.procedure.service;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.procedure.CallStatus;
import io.farheap.procedure.format.CallFormat;
import io.farheap.procedure.translate.running.CallContext;
import io.farheap.procedure.translate.running.TranslatedCode;
import io.farheap.testing.Effort;
import io.farheap.testing.TestDevice;
import io.farheap.time.TimeLimit;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.management.ObjectName;
import org.junit.jupiter.api.Test;

/**
 * Procedures that were registered, called, and unregistered, or whose leases have ended, leave no objects behind. The
 * test runs in a JVM of its own, which counts its live objects.
 */
class RegistrationsTest {

    private static final int REGISTRATIONS = Effort.count(500);
    private static final int BY_LEASE = LeaseProcedures.REGISTRATIONS_A_SECOND;
    /** Leases that stay, without their procedures. */
    private static final int KEPT = 3;

    @Test
    void nothingIsLeft() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED",
                        "--sun-misc-unsafe-memory-access=allow",
                        "-Dfarheap.verbs=" + System.getProperty("farheap.verbs"),
                        TimeLimit.flag(),
                        "-Dio.grpc.netty.shaded.io.netty.machineId=02:00:00:00:00:01",
                        "-cp",
                        System.getProperty("java.class.path"),
                        RegistrationsTest.class.getName(),
                        Integer.toString(REGISTRATIONS))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            byte[] said = child.getInputStream().readAllBytes();
            assertTrue(child.waitFor(TestDevice.patience(60), TimeUnit.SECONDS), "the child does not end");
            assertEquals(
                    "Registered=0 Procedure=0 leases=" + KEPT,
                    new String(said, StandardCharsets.UTF_8).lines().reduce("", (before, line) -> line));
        } finally {
            child.destroyForcibly();
        }
    }

    /** @param arguments how many to register */
    public static void main(String[] arguments) throws Exception {
        byte[] file = Procs.file(Procs.Hops.class);
        List<RawCalls> kept = new ArrayList<>();
        try (RawCalls.Server server = new RawCalls.Server(1, 1)) {
            int registered = 0;
            for (int lease = 0; registered < Integer.parseInt(arguments[0]); lease++) {
                RawCalls client = server.client(0);
                for (int id = 0; id < BY_LEASE; id++) {
                    require(CallFormat.REGISTERED == client.register(id, CallFormat.READS, file), "registered");
                    require(CallStatus.DONE == client.call(id, 0, 0), "called");
                    registered++;
                }
                if (lease < KEPT) {
                    for (int id = 0; id < BY_LEASE; id++) {
                        client.unregister(id);
                        require(CallStatus.REFUSED == client.call(id, 0, 0), "unregistered");
                    }
                    kept.add(client);
                } else {
                    client.close();
                }
            }
            // A thread refers to the lease of its last call: a call of a kept lease replaces it.
            require(CallStatus.REFUSED == kept.getLast().call(0, 0, 0), "unregistered");
            require(count(histogram(), CallContext.class.getName()) > 0, "counted");
            String left = left();
            for (int i = 0; i < 200 && !left.equals("Registered=0 Procedure=0 leases=" + KEPT); i++) {
                Thread.sleep(50);
                left = left();
            }
            kept.forEach(RawCalls::close);
            System.out.println(left);
        }
    }

    private static void require(boolean so, String what) {
        if (!so) {
            throw new AssertionError("not " + what);
        }
    }

    private static String left() throws Exception {
        String all = histogram();
        return "Registered=" + count(all, ServedProcedure.class.getName()) + " Procedure="
                + count(all, TranslatedCode.class.getPackageName() + ".Procedure/")
                + " leases=" + count(all, LeaseProcedures.class.getName());
    }

    private static long count(String histogram, String name) {
        return histogram
                .lines()
                .filter(line -> (line + " ").contains(" " + name + (name.endsWith("/") ? "" : " ")))
                .mapToLong(line -> Long.parseLong(line.trim().split("\\s+")[1]))
                .sum();
    }

    /** A histogram of the live objects, after a collection. */
    private static String histogram() throws Exception {
        System.gc();
        return (String) ManagementFactory.getPlatformMBeanServer()
                        .invoke(
                                new ObjectName("com.sun.management:type=DiagnosticCommand"),
                                "gcClassHistogram",
                                new Object[] {new String[0]},
                                new String[] {String[].class.getName()})
                + "\n";
    }
}
