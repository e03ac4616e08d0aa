package io.farheap.verbs;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.farheap.testing.Need;
import io.farheap.testing.Needs;
import io.farheap.testing.TestDevice;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What cannot be made leaves nothing behind: what it was made from closes, which a device refuses while it is used. */
class FailedCreationTest {

    /** Of a GID that no port has. */
    private static final String NO_GID = "255";

    private final Context context = Devices.open(TestDevice.client());

    @AfterEach
    void forget() {
        System.clearProperty(Gid.PROPERTY);
    }

    @Test
    void aQueuePairWithoutAnAddress() {
        ProtectionDomain domain = context.allocateProtectionDomain();
        CompletionQueue completions = context.createCompletionQueue(4, 1, null);
        System.setProperty(Gid.PROPERTY, NO_GID);
        assertThrows(VerbsException.class, () -> domain.createQueuePair(completions, 1, 0));
        assertDoesNotThrow(completions::close);
        assertDoesNotThrow(domain::close);
        assertDoesNotThrow(context::close);
    }

    /** Less than was asked for, and more than none. */
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

    /** More than the JVM lets anybody have: 100 GB of completions. */
    @Test
    void aCompletionQueueWithoutMemoryForItsCompletions() {
        CompletionChannel channel = context.createCompletionChannel();
        assertThrows(OutOfMemoryError.class, () -> context.createCompletionQueue(1, Integer.MAX_VALUE, channel));
        assertDoesNotThrow(channel::close);
        assertDoesNotThrow(context::close);
    }
}
