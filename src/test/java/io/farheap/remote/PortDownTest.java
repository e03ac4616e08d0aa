package io.farheap.remote;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.cache.SoftverbsFaults;
import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.verbs.Devices;
import io.farheap.verbs.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** A device that is opened by its name while its link is down. */
@Needs(Need.SOFTVERBS)
class PortDownTest {

    @AfterEach
    void linkUp() {
        SoftverbsFaults.link(true);
    }

    @Test
    void whatNeedsThePortSaysThatItIsDown() {
        String device = Devices.list().getFirst().name();
        SoftverbsFaults.link(false);
        try (RemoteMemory memory = RemoteMemory.open(device, "test")) {
            assertRefused(device, memory::maxMessageBytes);
            assertRefused(device, () -> memory.openQueue(new QueueOptions(16, 24, 64)));
        }
    }

    private static void assertRefused(String device, Executable call) {
        assertEquals(
                "device " + device + " has no active port; bring its link up",
                assertThrows(VerbsException.class, call).getMessage());
    }
}
