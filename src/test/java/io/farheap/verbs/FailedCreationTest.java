package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import org.junit.jupiter.api.Test;

/** A failed creation leaves nothing behind: the parent object closes, which a device refuses while it is in use. */
class FailedCreationTest {

    /** The index of a GID that no port has. */
    private static final String NO_GID = "255";

    private final Context context = Devices.open(TestDevice.client());

    @Test
    void aQueuePairWithoutAnAddress() {
        Context unaddressed =
                Devices.open(PortOptions.of(context.device().name()).gid(NO_GID));
        ProtectionDomain domain = unaddressed.allocateProtectionDomain();
        CompletionQueue completions = unaddressed.createCompletionQueue(4, 1, null);
        assertThrows(VerbsException.class, () -> domain.createQueuePair(completions, 1, 0));
        assertDoesNotThrow(completions::close);
        assertDoesNotThrow(domain::close);
        assertDoesNotThrow(unaddressed::close);
        context.close();
    }

    /** A device that cannot be used as the options say is closed again. */
    @Test
    void aPortThatTheDeviceDoesNotHave() {
        String name = context.device().name();
        for (int i = 0; i < 20; i++) {
            assertThrows(VerbsException.class, () -> Devices.open(name + ":9"));
        }
        assertDoesNotThrow(context::close);
    }

    /** The queue pair gets less inline data than was asked for, but some. */
    @Test
    @Needs(Need.SOFTVERBS)
    void inlineDataOfHalfTheSizeThatADeviceDoesNotTake() {
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(4, 1, null);
                QueuePair most = domain.createQueuePair(completions, 1, 1 << 20)) {
            assertEquals(1024, most.inlineBytes());
        }
        context.close();
    }

    /** 100 GB of completions are more memory than the JVM allows. */
    @Test
    void aCompletionQueueWithoutMemoryForItsCompletions() {
        CompletionChannel channel = context.createCompletionChannel();
        assertThrows(OutOfMemoryError.class, () -> context.createCompletionQueue(1, Integer.MAX_VALUE, channel));
        assertDoesNotThrow(channel::close);
        assertDoesNotThrow(context::close);
    }
}
