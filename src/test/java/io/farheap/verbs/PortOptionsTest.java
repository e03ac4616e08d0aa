package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** Options of a port: their limits, and the properties that fill those which are not set. */
class PortOptionsTest {

    @AfterEach
    void forget() {
        System.getProperties().stringPropertyNames().stream()
                .filter(PortOptions::isProperty)
                .forEach(System::clearProperty);
    }

    private static void refused(String message, Executable call) {
        assertEquals(message, assertThrows(IllegalArgumentException.class, call).getMessage());
    }

    @Test
    void aDeviceAndItsPortAreNamed() {
        assertEquals("mlx5_bond_0", PortOptions.of("mlx5_bond_0:2").deviceName());
        assertEquals(2, PortOptions.of("mlx5_bond_0:2").port());
        assertEquals("mlx5_0", PortOptions.of("mlx5_0").deviceName());
        assertEquals(0, PortOptions.of("mlx5_0").port());
        assertEquals("", PortOptions.DEFAULT.deviceName());
        for (String none : List.of("mlx5_0:0", "mlx5_0:", "mlx5_0:x", ":1", "mlx5_0:1:1", "mlx5_0:-1")) {
            refused(
                    "device " + none + "; name a device, or a port of one, from 1, such as mlx5_0:2",
                    () -> PortOptions.of(none));
        }
    }

    @Test
    void valuesHaveLimits() {
        PortOptions port =
                PortOptions.of("mlx5_0").gid(" eth0 ").serviceLevel(15).trafficClass(255);
        assertEquals("eth0", port.gid());
        assertEquals(
                "GID eth0, service level 15, traffic class 255, partition key 0x8001, acknowledgement time-out 21, retries 0",
                port.partitionKey(0x8001).ackTimeout(21).retries(0).settings());
        assertEquals("", PortOptions.DEFAULT.settings());
        refused(
                "a GID of no characters; name an index of the port's GID table, an address or a network interface, or leave "
                        + "it out",
                () -> port.gid(" "));
        refused("a service level of 16; it must be 0 to 15, on Ethernet 0 to 7", () -> port.serviceLevel(16));
        refused("a service level of -2; it must be 0 to 15, on Ethernet 0 to 7", () -> port.serviceLevel(-2));
        refused("a traffic class of 256; it must be 0 to 255", () -> port.trafficClass(256));
        String key = "; it must be 0x0001 to 0xffff, with a number in its lower 15 bits, such as 0x8001";
        refused("a partition key of 0" + key, () -> port.partitionKey(0));
        refused("a partition key of 32768" + key, () -> port.partitionKey(0x8000));
        refused("a partition key of 65536" + key, () -> port.partitionKey(0x10000));
        String time = "; it must be 1 to 21, of which 14 is 67 ms and 21 is 8.6 s";
        refused("an acknowledgement time-out of 0" + time, () -> port.ackTimeout(0));
        refused("an acknowledgement time-out of 22" + time, () -> port.ackTimeout(22));
        refused("a number of retries of 7; it must be 0 to 6: some devices retry 7 for ever", () -> port.retries(7));
    }

    @Test
    void defaultsAreThoseOfToday() {
        assertEquals(
                "service level 0, traffic class 0, acknowledgement time-out 14, retries 6",
                PortOptions.DEFAULT.resolved("mlx5_0", 1).settings());
    }

    /** An option of the program goes before any property, and the property of a port before those of more ports. */
    @Test
    void thePropertyOfAPortComesBeforeThatOfAll() {
        System.setProperty("farheap.gid", "3");
        System.setProperty("farheap.gid.mlx5_1", "eth1");
        System.setProperty("farheap.gid.mlx5_1:2", "10.0.0.5");
        System.setProperty("farheap.serviceLevel.mlx5_1:1", "5");
        System.setProperty("farheap.trafficClass", "0x6a");
        System.setProperty("farheap.pkey", "0x8001");
        System.setProperty("farheap.ackTimeout", "18");
        System.setProperty("farheap.retries", "0");
        assertEquals(
                "GID 3, service level 0, traffic class 106, partition key 0x8001, acknowledgement time-out 18, retries 0",
                PortOptions.DEFAULT.resolved("mlx5_0", 1).settings());
        assertEquals("eth1", PortOptions.of("mlx5_1").resolved("mlx5_1", 1).gid());
        assertEquals(5, PortOptions.DEFAULT.resolved("mlx5_1", 1).serviceLevel());
        assertEquals("10.0.0.5", PortOptions.DEFAULT.resolved("mlx5_1", 2).gid());
        PortOptions given = PortOptions.of("mlx5_1:2").gid("7").retries(2).resolved("mlx5_1", 2);
        assertEquals("7", given.gid());
        assertEquals(2, given.retries());
    }

    @Test
    void aPropertyOfNoValueIsNamed() {
        System.setProperty("farheap.retries.mlx5_0", "7");
        assertEquals(
                "farheap.retries.mlx5_0=7: a number of retries of 7; it must be 0 to 6: some devices retry 7 for ever",
                assertThrows(VerbsException.class, () -> PortOptions.DEFAULT.resolved("mlx5_0", 1))
                        .getMessage());
        System.setProperty("farheap.retries.mlx5_0", "many");
        assertEquals(
                "farheap.retries.mlx5_0=many: it is no number; write one such as 3 or 0x8001",
                assertThrows(VerbsException.class, () -> PortOptions.DEFAULT.resolved("mlx5_0", 1))
                        .getMessage());
        System.setProperty("farheap.retries.mlx5_0", "-1");
        assertThrows(VerbsException.class, () -> PortOptions.DEFAULT.resolved("mlx5_0", 1));
        assertEquals(6, PortOptions.DEFAULT.resolved("mlx5_1", 1).retries());
        System.setProperty("farheap.gid", "");
        assertThrows(VerbsException.class, () -> PortOptions.DEFAULT.resolved("mlx5_1", 1));
    }

    @Test
    void propertiesAreKnownByTheirNames() {
        assertTrue(PortOptions.isProperty("farheap.gid"));
        assertTrue(PortOptions.isProperty("farheap.trafficClass.mlx5_0:1"));
        assertFalse(PortOptions.isProperty("farheap.gids"));
        assertFalse(PortOptions.isProperty("farheap.verbs"));
    }
}
