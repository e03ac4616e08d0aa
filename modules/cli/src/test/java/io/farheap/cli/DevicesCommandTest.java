package io.farheap.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.farheap.coding.CodingLibrary;
import io.farheap.verbs.DeviceInfo;
import io.farheap.verbs.Devices;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class DevicesCommandTest {

    private static String run() {
        StringWriter out = new StringWriter();
        assertEquals(
                0,
                Main.commandLine()
                        .setOut(new PrintWriter(out))
                        .setErr(new PrintWriter(new StringWriter()))
                        .execute("devices"));
        return out.toString();
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
