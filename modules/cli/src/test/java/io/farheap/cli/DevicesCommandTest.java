package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.coding.CodingLibrary;
import io.farheap.verbs.DeviceInfo;
import io.farheap.verbs.Devices;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class DevicesCommandTest {

    private static String run(String... options) {
        StringWriter out = new StringWriter();
        String[] words = Stream.concat(Stream.of("devices"), Stream.of(options)).toArray(String[]::new);
        assertEquals(
                0,
                Main.commandLine()
                        .setOut(new PrintWriter(out))
                        .setErr(new PrintWriter(new StringWriter()))
                        .execute(words));
        return out.toString();
    }

    /** The address that connections prefer, and their settings, are shown; or the reason why there are none. */
    @Test
    void showsHowConnectionsLeaveAPort() {
        String listed = run("--gid", "1", "--traffic-class", "106", "--pkey", "0xffff");
        assertTrue(
                listed.lines().anyMatch(line -> line.startsWith("    GID 1 ") && line.endsWith(", preferred")), listed);
        assertTrue(
                listed.contains("    connections: GID 1, service level 0, traffic class 106, partition key 0xffff, "
                        + "acknowledgement time-out 14, retries 6\n"),
                listed);
        assertTrue(run("--gid", "eth77").contains("    connections: cannot be made: eth77 names no GID of port 1 of "));
        StringWriter errors = new StringWriter();
        assertNotEquals(
                0,
                Main.commandLine()
                        .setOut(new PrintWriter(new StringWriter()))
                        .setErr(new PrintWriter(errors))
                        .execute("devices", "--retries=-1"));
        assertTrue(errors.toString().contains("--retries -1: it must be at least 0"), errors.toString());
    }

    @Test
    void listsDevicesAndSaysWhatCodes() {
        String listed = run();
        for (DeviceInfo device : Devices.list()) {
            assertTrue(listed.contains(device.name() + "  ("), listed);
        }
        assertTrue(listed.contains("coding  " + CodingLibrary.chosen() + "\n"), listed);
        assertEquals(!CodingLibrary.ISAL.available(), listed.contains("sudo apt-get install libisal2"), listed);
    }

    @Test
    void saysWhatWasChosen() {
        System.setProperty("farheap.coding", "java");
        try {
            assertTrue(run().contains("coding  portable Java\n"));
        } finally {
            System.clearProperty("farheap.coding");
        }
    }
}
